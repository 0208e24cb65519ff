extension UVRunLoop {
    /// Tells when a file descriptor is ready: the port-based input source of Linux.
    ///
    /// The source is level-triggered: what its handler leaves unread brings it another call in a
    /// later pass. What made it ready may have been used up meanwhile, by another source on the
    /// descriptor or another process, so reads and writes are to expect `EAGAIN`.
    ///
    /// Any number of sources may share a descriptor; each gets its own events. From the first run
    /// that may serve one of them until the last has left its loop, the descriptor is in
    /// non-blocking mode, **for everyone who shares the open file**, other processes included.
    ///
    /// The standard descriptors 0, 1 and 2 are different, because whoever starts the program
    /// chooses them and goes on using them:
    ///
    /// - Their mode is left as it is, so that a shell finds its terminal unchanged however the
    ///   program ends. If it is blocking, let one source read, once per call, with `read(2)`:
    ///   `readLine()` waits for a whole line, and what it has buffered makes no source ready.
    /// - They may lead to a file or to `/dev/null`, which the kernel does not watch because they
    ///   are always ready. The source is then served in every pass, and the loop does not sleep,
    ///   until a source for `.readable` alone has read the file to its end: it gets `.hangUp`, as
    ///   from a pipe without a writer. Other sources are served until they are invalidated.
    ///
    /// Invalidate, or remove, a source before you close its descriptor: the number may be somebody
    /// else's right afterwards.
    ///
    /// See *Port-Based Sources* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class DescriptorSource: PortSource {
        /// The conditions of a descriptor that a source can wait for.
        public typealias Events = DescriptorEvents

        /// What a loop knows the source by.
        public let link: PortLink

        /// Makes a source for a descriptor.
        ///
        /// Add it to a loop with ``UVRunLoop/add(_:forMode:)-(UVRunLoop.PortSource,_)``.
        ///
        /// The descriptor stays the caller's. It is not changed before a run may serve it.
        ///
        /// > Threading: The thread whose loop is to serve the source, because the handler stays on
        /// it.
        ///
        /// - Parameters:
        ///   - descriptor: An open descriptor of a pipe, socket, terminal, eventfd or the like; or a
        ///     standard descriptor, whatever it leads to.
        ///   - events: The conditions to wait for.
        ///   - order: The turn among sources that become ready at the same time; lower ones first.
        ///   - handler: Called on the loop's thread with the conditions that hold.
        /// - Throws: ``RunLoopError`` when the descriptor is closed or of a kind that cannot be
        ///   watched: a directory, or a file that the program has opened itself.
        public convenience init(
            _ descriptor: CInt,
            events: Events,
            order: Int = 0,
            handler: @escaping (DescriptorSource, Events) -> Void
        ) throws(RunLoopError) {
            try self.init(descriptor, events, order, ThreadBound(handler))
        }

        /// Makes a source for a descriptor, whose handler may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - descriptor: An open descriptor of a pipe, socket, terminal, eventfd or the like; or a
        ///     standard descriptor, whatever it leads to.
        ///   - events: The conditions to wait for.
        ///   - order: The turn among sources that become ready at the same time; lower ones first.
        ///   - sendableHandler: Called on the loop's thread with the conditions that hold.
        /// - Throws: ``RunLoopError`` when the descriptor is closed or of a kind that cannot be
        ///   watched: a directory, or a file that the program has opened itself.
        @_disfavoredOverload
        public convenience init(
            _ descriptor: CInt,
            events: Events,
            order: Int = 0,
            sendableHandler: @escaping @Sendable (DescriptorSource, Events) -> Void
        ) throws(RunLoopError) {
            try self.init(descriptor, events, order, ThreadBound(sendable: sendableHandler))
        }

        private init(
            _ descriptor: CInt,
            _ events: Events,
            _ order: Int,
            _ handler: ThreadBound<(DescriptorSource, Events) -> Void>
        ) throws(RunLoopError) {
            let standIn: FileStandIn?
            do {
                standIn = try DescriptorProbe.check(
                    descriptor,
                    isReadOnly: events.contains(.readable) && !events.contains(.writable)
                )
            } catch {
                throw RunLoopError(error)
            }
            self.descriptor = descriptor
            link = PortLink(
                descriptor: standIn?.descriptor ?? descriptor,
                events: events,
                order: order,
                receiver: DescriptorReceiver(handler, standIn)
            )
        }

        /// The descriptor that is watched.
        public let descriptor: CInt

        /// The conditions that were asked for.
        public var events: Events { link.events }

        /// Its turn among sources that become ready at the same time; lower ones are served first.
        ///
        /// Numbers of more than 32 bits count as the nearest of 32.
        public var order: Int { link.order }

        /// Whether the source may still be served: it was not invalidated, and the kernel did not
        /// refuse it.
        public var isValid: Bool { link.validity.load(ordering: .acquiring) }

        /// Takes the source out of its loop for good.
        ///
        /// When this returns, the kernel watches the descriptor no longer (if this was the last
        /// source on it), and on the loop's thread no call begins any more.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            UVRunLoop.invalidate(self)
        }
    }
}

/// Calls a descriptor source's handler.
private final class DescriptorReceiver: TypedPortReceiver {
    typealias Events = UVRunLoop.DescriptorSource.Events

    private let handler: Handler<(UVRunLoop.DescriptorSource, Events) -> Void>
    /// Watched instead of a file; it lives as long as the source.
    private let standIn: FileStandIn?

    init(_ body: ThreadBound<(UVRunLoop.DescriptorSource, Events) -> Void>, _ standIn: FileStandIn?)
    {
        handler = Handler(body)
        self.standIn = standIn
    }

    func checkHome(is thread: ThreadIdentity) { handler.checkHome(is: thread) }

    func receive(port source: UVRunLoop.DescriptorSource, _ events: Events) -> ServeResult {
        guard let body = handler.current else { return ServeResult(wasHandled: false) }
        body(source, events)
        standIn?.hangUpAtEnd()
        return ServeResult(wasHandled: true)
    }

    func releaseHandler(in loop: UVRunLoop?) { handler.release() }
}
