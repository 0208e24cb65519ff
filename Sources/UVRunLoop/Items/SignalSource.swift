extension UVRunLoop {
    /// Reports signals of the process on the thread of its loop, where a handler may do anything.
    ///
    /// A signal handler may do next to nothing: Apple's guide says never to message an input source
    /// from one. A source makes the signal an event like others, held back while other modes run,
    /// and served in turn.
    ///
    /// Several sources, in any number of loops, may wait for one signal, and each gets it. The
    /// kernel watches no more than 500 of one signal in a process; one that it refuses becomes
    /// invalid. While there is one, the signal has none of its other effects: a handler installed
    /// before is not called, the process is not terminated, and an ignored signal is delivered. The
    /// signal masks of threads are not changed. The sources get a signal even if every thread
    /// blocks it, unless it was sent to a single thread that blocks it and is not the thread of the
    /// source's loop. When the last of the sources has become invalid, the previous disposition is
    /// restored, unless another handler was installed meanwhile.
    ///
    /// Signals that are sent several times before a source is served result in one call, with a
    /// count. The kernel itself merges a signal with a pending one, except for real-time signals:
    /// the count is how often the signal arrived, not how often it was sent.
    ///
    /// After a `fork`, the child has the dispositions from before there were sources: a signal sent
    /// to the child does what it would have done then.
    ///
    /// The source becomes invalid when the thread of its loop ends.
    ///
    /// See *Input Sources* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class SignalSource: PortSource {
        /// The link between the source and its loop.
        public let link: PortLink
        /// The number of the signal.
        public let signal: CInt

        /// Creates a source for a signal, whose arrivals are counted from now on.
        ///
        /// Add it to a loop with
        /// ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.PortSource,_,_,_)``. It takes one file
        /// descriptor, and the first source of a signal two more.
        ///
        /// > Threading: The thread whose loop serves the source, because the handler is bound to
        /// > it.
        ///
        /// - Parameters:
        ///   - signal: The number of the signal, such as `SIGTERM`.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - handler: Called on the loop's thread with the number of arrivals since the last
        ///     call.
        /// - Throws: ``RunLoopError`` if the signal cannot be watched: the number is invalid, it is
        ///   `SIGKILL` or `SIGSTOP`, or it reports a fault of a thread (`SIGSEGV`, `SIGBUS`,
        ///   `SIGFPE`, `SIGILL`, `SIGTRAP`, `SIGSYS`); or if no descriptors are left.
        public convenience init(
            _ signal: CInt,
            order: Int = 0,
            handler: @escaping (SignalSource, _ count: Int) -> Void
        ) throws(RunLoopError) {
            self.init(try Self.listener(for: signal), order, HomeBound(handler))
        }

        /// Creates a source for a signal, whose handler may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - signal: The number of the signal, such as `SIGTERM`.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - sendableHandler: Called on the loop's thread with the number of arrivals since the
        ///     last call.
        /// - Throws: ``RunLoopError`` if the signal cannot be watched, or no descriptors are left.
        @_disfavoredOverload
        public convenience init(
            _ signal: CInt,
            order: Int = 0,
            sendableHandler: @escaping @Sendable (SignalSource, _ count: Int) -> Void
        ) throws(RunLoopError) {
            self.init(
                try Self.listener(for: signal),
                order,
                HomeBound(sendable: sendableHandler)
            )
        }

        init(
            _ listener: SignalListener,
            _ order: Int,
            _ handler: HomeBound<(SignalSource, Int) -> Void>,
            keepsModes: Bool = true
        ) {
            signal = listener.watch.signal
            link = PortLink(
                descriptor: listener.descriptor,
                events: .readable,
                order: order,
                keepsModes: keepsModes,
                warnsAs: "a signal source",
                receiver: SignalReceiver(listener, handler)
            )
        }

        static func listener(for signal: CInt) throws(RunLoopError) -> SignalListener {
            try RunLoopError.translating(try SignalListener(signal), of: .signal)
        }

        /// Whether the source may still be served: it was not invalidated, the thread of its loop
        /// has not ended, and the kernel had room to watch it.
        public var isValid: Bool { link.isValid }

        /// Removes the source from its loop permanently.
        ///
        /// If it was the last source for its signal, the previous disposition is restored. Called
        /// on the loop's thread, no call of the handler begins after this has returned.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            UVRunLoop.invalidate(self)
        }

        /// Invalidates the source; returns how many arrivals were not delivered, and the
        /// place of the latest arrival among those of all signals.
        func invalidateCounting() -> (undelivered: Int, latest: UInt64) {
            guard isValid, let receiver = link.receiver as? SignalReceiver else { return (0, 0) }
            invalidate()
            return (receiver.undeliveredCount, receiver.latestArrival)
        }
    }
}

/// Calls a signal source's handler.
private final class SignalReceiver: PortReceiver {
    typealias Handler = HomeBound<(UVRunLoop.SignalSource, Int) -> Void>

    private let listener: SignalListener
    private let handler: Handler

    init(_ listener: SignalListener, _ handler: Handler) {
        self.listener = listener
        self.handler = handler
    }

    var fact: String? { "signal \(listener.watch.signal)" }
    var undeliveredCount: Int { listener.undeliveredCount }
    var latestArrival: UInt64 { listener.latestArrival }

    func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {
        handler.home.check(is: thread, caller)
    }

    func receive(
        port source: UVRunLoop.SignalSource,
        _ events: UVRunLoop.DescriptorEvents
    ) -> ServeResult {
        guard let body = handler.current else { return ServeResult(wasHandled: false) }
        let count = listener.take()
        // Another source may have taken what the kernel kept, and notified this one already.
        guard count > 0 else { return ServeResult(wasHandled: false) }
        body(source, count)
        return ServeResult(wasHandled: true)
    }

    func releaseHandler() {
        listener.end()
        handler.release()
    }

    func loopDidEnd(port source: UVRunLoop.SignalSource) { source.invalidate() }
}
