extension UVRunLoop {
    /// Tells when a signal came to the process, on the thread of its loop, where a handler may do
    /// anything.
    ///
    /// A signal handler may do next to nothing: Apple's guide says never to message an input
    /// source from one. With a source in its place the signal becomes an event like others, held
    /// back while other modes run, and served in turn.
    ///
    /// Any number of sources, in any number of loops, may wait for one signal; each is told of it.
    /// While there is one, the signal has none of its other effects: a handler that was installed
    /// before is not called, the process does not end by it, and a signal that was ignored comes.
    /// Threads that block the signal go on blocking it; it arrives all the same, unless it was
    /// sent to one such thread alone that is not the one of the source's loop. When the last of
    /// the sources has become invalid, what the signal did before is restored, unless somebody has
    /// installed another handler meanwhile.
    ///
    /// What is sent several times before a source is served is one call, with a count. The kernel
    /// itself merges a signal with one that still waits for a thread to take it, but for real-time
    /// signals: the count is how often the signal arrived, not how often it was sent.
    ///
    /// A child process gets from `fork` what the signals did before there were sources: what is
    /// sent to the child does what it would have done then.
    ///
    /// When the thread of its loop ends, the source becomes invalid.
    ///
    /// See *Input Sources* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class SignalSource: PortSource {
        /// What a loop knows the source by.
        public let link: PortLink
        /// The signal's number.
        public let signal: CInt

        /// Makes a source for a signal, which is counted for it from now on.
        ///
        /// Add it to a loop with ``UVRunLoop/add(_:forMode:)-(UVRunLoop.PortSource,_)``. It takes
        /// one file descriptor, and the first source of a signal two more.
        ///
        /// > Threading: The thread whose loop is to serve the source, because the handler stays on
        /// it.
        ///
        /// - Parameters:
        ///   - signal: The number of the signal, such as `SIGTERM`.
        ///   - order: The turn among sources that become ready at the same time; lower ones first.
        ///   - handler: Called on the loop's thread with how often the signal came since the last
        ///     call.
        /// - Throws: ``RunLoopError`` when the signal cannot be waited for: there is none of this
        ///   number, it is `SIGKILL` or `SIGSTOP`, or it tells a thread of a fault of its own
        ///   (`SIGSEGV`, `SIGBUS`, `SIGFPE`, `SIGILL`, `SIGTRAP`, `SIGSYS`); or when no
        ///   descriptors are left.
        public convenience init(
            _ signal: CInt,
            order: Int = 0,
            handler: @escaping (SignalSource, _ count: Int) -> Void
        ) throws(RunLoopError) {
            try self.init(signal, order, ThreadBound(handler))
        }

        /// Makes a source for a signal, whose handler may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - signal: The number of the signal, such as `SIGTERM`.
        ///   - order: The turn among sources that become ready at the same time; lower ones first.
        ///   - sendableHandler: Called on the loop's thread with how often the signal came since
        ///     the last call.
        /// - Throws: ``RunLoopError`` when the signal cannot be waited for, or no descriptors are
        ///   left.
        @_disfavoredOverload
        public convenience init(
            _ signal: CInt,
            order: Int = 0,
            sendableHandler: @escaping @Sendable (SignalSource, _ count: Int) -> Void
        ) throws(RunLoopError) {
            try self.init(signal, order, ThreadBound(sendable: sendableHandler))
        }

        private init(
            _ signal: CInt,
            _ order: Int,
            _ handler: ThreadBound<(SignalSource, Int) -> Void>
        ) throws(RunLoopError) {
            let listener: SignalListener
            do {
                listener = try SignalListener(signal)
            } catch {
                throw RunLoopError(ofSignal: error)
            }
            self.signal = signal
            link = PortLink(
                descriptor: listener.descriptor,
                events: .readable,
                order: order,
                receiver: SignalReceiver(listener, handler)
            )
        }

        /// Its turn among sources that become ready at the same time; lower ones are served first.
        ///
        /// Numbers of more than 32 bits count as the nearest of 32.
        public var order: Int { link.order }

        /// Whether the source may still be served: it was not invalidated, and the thread of its
        /// loop has not ended.
        public var isValid: Bool { link.isValid }

        /// Takes the source out of its loop for good.
        ///
        /// If it was the last one for its signal, the signal does what it did before. On the
        /// loop's thread no call begins any more when this returns.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            UVRunLoop.invalidate(self)
        }
    }
}

/// Calls a signal source's handler.
private final class SignalReceiver: TypedPortReceiver {
    private let listener: SignalListener
    private let handler: Handler<(UVRunLoop.SignalSource, Int) -> Void>

    init(
        _ listener: SignalListener,
        _ body: ThreadBound<(UVRunLoop.SignalSource, Int) -> Void>
    ) {
        self.listener = listener
        handler = Handler(body)
    }

    func checkHome(is thread: ThreadIdentity) { handler.checkHome(is: thread) }

    func receive(
        port source: UVRunLoop.SignalSource,
        _ events: UVRunLoop.DescriptorSource.Events
    ) -> ServeResult {
        guard let body = handler.current else { return ServeResult(wasHandled: false) }
        let count = listener.take()
        // Another source may have taken what the kernel kept, and told this one of it already.
        guard count > 0 else { return ServeResult(wasHandled: false) }
        body(source, count)
        return ServeResult(wasHandled: true)
    }

    func releaseHandler(in loop: UVRunLoop?) {
        listener.end()
        handler.release()
    }

    func loopDidEnd(port source: UVRunLoop.SignalSource) { source.invalidate() }
}
