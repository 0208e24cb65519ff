/// The calls of a source's `schedule` and `cancel` that are due, in the order in which it joined
/// and left each mode of each loop.
///
/// A thread that joins or leaves a mode makes the call, and those that come due for the mode until
/// it has: so the calls for a mode alternate and never overlap. Guarded by the source's lock; the
/// calls are made without it.
struct ModeCalls {
    enum Kind { case schedule, cancel }

    struct Handlers {
        let schedule: UVRunLoop.Source.ModeHandler?
        let cancel: UVRunLoop.Source.ModeHandler?
    }

    struct Call {
        let handler: UVRunLoop.Source.ModeHandler?
        let loop: UVRunLoop
        let mode: UVRunLoop.Mode
    }

    /// The calls for one mode of one loop.
    private struct Line {
        let loop: UVRunLoop
        let mode: UVRunLoop.Mode
        /// Whether the latest call, made or due, is `schedule`.
        var isScheduled = false
        var due: [Kind] = []
        /// The thread that makes the calls; `nil` if none is due or being made.
        var caller: ThreadIdentity?
        var isBeingCalled = false
    }

    private var lines: [Line] = []
    /// `nil` once they were released.
    private var handlers: Handlers?
    /// Whether the source joins no mode any more.
    private var isEnding = false

    init(_ handlers: Handlers) { self.handlers = handlers }

    /// Makes a call due for a mode that the source has joined or left, unless it is already, or was
    /// the latest.
    mutating func add(_ kind: Kind, _ mode: UVRunLoop.Mode, of loop: UVRunLoop) {
        let known = index(of: mode, of: loop)
        guard (kind == .schedule) != known.map({ lines[$0].isScheduled }) ?? false else { return }
        let index = known ?? lines.count
        if known == nil { lines.append(Line(loop: loop, mode: mode)) }
        lines[index].isScheduled = kind == .schedule
        lines[index].due.append(kind)
        if lines[index].caller == nil { lines[index].caller = .current }
    }

    /// Takes the next call that the calling thread is to make.
    mutating func takeNext() -> Call? {
        let thread = ThreadIdentity.current
        let next = lines.firstIndex {
            $0.caller == thread && !$0.isBeingCalled && !$0.due.isEmpty
        }
        guard let next else { return nil }
        lines[next].isBeingCalled = true
        let kind = lines[next].due.removeFirst()
        return Call(
            handler: kind == .schedule ? handlers?.schedule : handlers?.cancel,
            loop: lines[next].loop,
            mode: lines[next].mode
        )
    }

    /// Ends a call that was taken.
    ///
    /// - Returns: The handlers after the last call, for the caller to release without the lock.
    mutating func didMake(_ call: Call) -> Handlers? {
        guard let index = index(of: call.mode, of: call.loop) else { return nil }
        lines[index].isBeingCalled = false
        guard lines[index].due.isEmpty else { return nil }
        lines[index].caller = nil
        if !lines[index].isScheduled { lines.remove(at: index) }
        return takeHandlersAtEnd()
    }

    /// Records that the source has become invalid and has left its modes.
    ///
    /// - Returns: The handlers, if no call is due or being made.
    mutating func end() -> Handlers? {
        isEnding = true
        return takeHandlersAtEnd()
    }

    private mutating func takeHandlersAtEnd() -> Handlers? {
        isEnding && lines.isEmpty ? handlers.take() : nil
    }

    private func index(of mode: UVRunLoop.Mode, of loop: UVRunLoop) -> Int? {
        lines.firstIndex { $0.loop === loop && $0.mode == mode }
    }
}

extension UVRunLoop.Source {
    /// Makes calls of `schedule` or `cancel` due for modes that the source has joined or left.
    func makeDue(
        _ kind: ModeCalls.Kind,
        _ modes: [UVRunLoop.Mode],
        of loop: UVRunLoop,
        _ state: inout State
    ) {
        guard hasModeHandlers else { return }
        for mode in modes { state.modeCalls.add(kind, mode, of: loop) }
    }

    /// Makes the calls of `schedule` and `cancel` that the calling thread has made due.
    func makeModeCalls() {
        guard hasModeHandlers else { return }
        while let call = state.withLock({ $0.modeCalls.takeNext() }) {
            call.handler?(call.loop, call.mode)
            call.loop.checkProcess()
            let released = state.withLock { $0.modeCalls.didMake(call) }
            withExtendedLifetime(released) {}
        }
    }
}
