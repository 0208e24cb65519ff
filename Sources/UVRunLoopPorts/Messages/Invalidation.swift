import UVRunLoop

/// Calls a handler once when a port becomes invalid.
struct Invalidation<Port: AnyObject & Sendable>: ~Copyable, Sendable {
    typealias Handler = @Sendable (Port) -> Void

    // Not private: Swift 6.3 cannot link a private type nested in a generic one.
    enum State: Sendable {
        case valid(Handler?)
        case invalid
    }

    private let state = Guarded(State.valid(nil))

    /// The handler; `nil` once the port is invalid.
    var handler: Handler? {
        state.withLock { state in
            guard case .valid(let handler) = state else { return nil }
            return handler
        }
    }

    /// Sets the handler, or calls it at once if the port is already invalid.
    func setHandler(_ handler: Handler?, of port: Port) {
        let replaced = state.withLock { state -> (isSet: Bool, old: Handler?) in
            guard case .valid(let old) = state else { return (false, nil) }
            state = .valid(handler)
            return (true, old)
        }
        if !replaced.isSet { handler?(port) }
        withExtendedLifetime(replaced.old) {}
    }

    /// Marks the port invalid.
    ///
    /// - Returns: The handler, for the first caller only, which has to call it.
    func end() -> Handler? {
        state.withLock { state in
            guard case .valid(let handler) = exchange(&state, with: .invalid) else { return nil }
            return handler
        }
    }
}
