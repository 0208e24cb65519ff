extension UVRunLoop {
    /// Calls a handler on the loop's thread when the process is asked to end, by `SIGTERM` or by
    /// `SIGINT`, which Ctrl-C sends.
    ///
    /// The handler is called once. Before that, both signals get back the effects that they had
    /// before this call, normally to end the process. A second signal therefore ends it at once, in
    /// whatever the handler has begun and also if the loop is busy, and the exit status says which
    /// signal it was. If two signals have arrived before the loop could serve the first, they have
    /// the same effect: the second one's.
    ///
    /// The signals are sources of the common modes, which they do not keep from being empty: a run
    /// returns when its other work is done. If the loop's thread has ended, the signals keep their
    /// effects.
    ///
    /// > Threading: The loop's own thread, because the handler is bound to it.
    ///
    /// - Parameter handler: Begins the end, for example with
    ///   `ConnectionGroup.end(limit:completion:)`.
    /// - Returns: The sources of the two signals, which can be invalidated.
    /// - Throws: ``RunLoopError`` if no descriptors are left.
    @discardableResult
    public func onTermination(
        _ handler: @escaping () -> Void
    ) throws(RunLoopError) -> [SignalSource] {
        checkThread()
        return try Termination(HomeBound(handler)).watch(in: self)
    }

    /// Calls a handler, which may be called on any thread, when the process is asked to end.
    ///
    /// Otherwise the same as ``onTermination(_:)``.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter sendableHandler: Begins the end, on the loop's thread.
    /// - Returns: The sources of the two signals, which can be invalidated.
    /// - Throws: ``RunLoopError`` if no descriptors are left.
    @_disfavoredOverload
    @discardableResult
    public func onTermination(
        sendableHandler: @escaping @Sendable () -> Void
    ) throws(RunLoopError) -> [SignalSource] {
        checkProcess()
        return try Termination(HomeBound(sendable: sendableHandler)).watch(in: self)
    }

    /// Calls a handler on the loop's thread whenever the process gets `SIGHUP`, which asks a
    /// service to read its configuration again.
    ///
    /// Signals that arrive before the loop serves the first are one call. The signal is a source of
    /// the common modes, which it does not keep from being empty.
    ///
    /// > Threading: The loop's own thread, because the handler is bound to it.
    ///
    /// - Parameter handler: Called on the loop's thread.
    /// - Returns: The source, which can be invalidated.
    /// - Throws: ``RunLoopError`` if no descriptors are left.
    @discardableResult
    public func onHangUp(_ handler: @escaping () -> Void) throws(RunLoopError) -> SignalSource {
        checkThread()
        let body: (SignalSource, Int) -> Void = { _, _ in handler() }
        return try watchHangUp(HomeBound(body))
    }

    /// Calls a handler, which may be called on any thread, whenever the process gets `SIGHUP`.
    ///
    /// Otherwise the same as ``onHangUp(_:)``.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter sendableHandler: Called on the loop's thread.
    /// - Returns: The source, which can be invalidated.
    /// - Throws: ``RunLoopError`` if no descriptors are left.
    @_disfavoredOverload
    @discardableResult
    public func onHangUp(
        sendableHandler: @escaping @Sendable () -> Void
    ) throws(RunLoopError) -> SignalSource {
        checkProcess()
        return try watchHangUp(HomeBound(sendable: { _, _ in sendableHandler() }))
    }

    private func watchHangUp(
        _ handler: HomeBound<(SignalSource, Int) -> Void>
    ) throws(RunLoopError) -> SignalSource {
        let listener = try SignalSource.listener(for: TerminationSignal.hangUp)
        let source = SignalSource(listener, 0, handler, keepsModes: false)
        addUntilEnd(source)
        return source
    }
}

/// The numbers of the signals, which are the same on every Linux.
private enum TerminationSignal {
    static let hangUp: CInt = 1
    static let interrupt: CInt = 2
    static let termination: CInt = 15
}

/// The handler of the first signal that asks the process to end.
private final class Termination: Sendable {
    /// Weak, because the source's handler refers to this object.
    private struct Member {
        weak let source: UVRunLoop.SignalSource?
    }

    private let handler: HomeBound<() -> Void>
    private let members = Guarded<[Member]>([])

    init(_ handler: HomeBound<() -> Void>) { self.handler = handler }

    func watch(in loop: UVRunLoop) throws(RunLoopError) -> [UVRunLoop.SignalSource] {
        let numbers = [TerminationSignal.termination, TerminationSignal.interrupt]
        var made: [UVRunLoop.SignalSource] = []
        do throws(RunLoopError) {
            for number in numbers { made.append(try source(for: number)) }
        } catch {
            for source in made { source.invalidate() }
            throw error
        }
        members.withLock { $0 = made.map(Member.init) }
        for source in made { loop.addUntilEnd(source) }
        return made
    }

    private func source(for signal: CInt) throws(RunLoopError) -> UVRunLoop.SignalSource {
        UVRunLoop.SignalSource(
            try UVRunLoop.SignalSource.listener(for: signal),
            0,
            HomeBound(sendable: { self.signalDidArrive($0.signal, $1) }),
            keepsModes: false
        )
    }

    private func signalDidArrive(_ signal: CInt, _ count: Int) {
        let sources = members.withLock { exchange(&$0, with: []) }.compactMap(\.source)
        // The signals have their previous effects from here on.
        let arrivals = sources.map { source in
            let (undelivered, latest) = source.invalidateCounting()
            let count = source.signal == signal ? undelivered + count : undelivered
            return (signal: source.signal, count: count, latest: latest)
        }
        let inOrder = arrivals.filter { $0.count > 0 }.sorted { $0.latest < $1.latest }
        // Those that came after the first have their effects.
        for (index, arrived) in inOrder.enumerated() where index > 0 || arrived.count > 1 {
            SignalListener.raise(arrived.signal)
        }
        handler.current?()
        handler.release()
    }
}
