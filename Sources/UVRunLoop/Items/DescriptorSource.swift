extension UVRunLoop {
    /// Reports that a file descriptor is ready: the port-based input source of Linux.
    ///
    /// The source is level-triggered: if its handler leaves data unread, it is called again in a
    /// later pass. Another source on the descriptor or another process may have read the data
    /// meanwhile, so reads and writes must expect `EAGAIN`.
    ///
    /// Any number of sources may share a descriptor; each gets its own events. From the first poll
    /// of a run that can serve one of them until the last has left its loop, the descriptor is
    /// non-blocking, **for everyone who shares the open file**, other processes included. A source
    /// that is added again while its handler runs makes it so at once.
    ///
    /// The standard descriptors 0, 1 and 2 are different, because they are shared with the program
    /// that started this one:
    ///
    /// - Their flags are left as they are, so that a shell finds its terminal unchanged however the
    ///   program ends. If a standard descriptor is blocking, let one source read it, once per call,
    ///   with `read(2)`: `readLine()` waits for a whole line, and data in its buffer makes no
    ///   source ready.
    /// - They may refer to a file or to `/dev/null`, which the kernel does not watch because they
    ///   are always ready. The source is then served in every pass, and the loop does not sleep,
    ///   until a source for `.readable` alone has read the file to its end: it gets `.hangUp`, as
    ///   from a pipe without a writer. That is the end for this source, also if the file grows or
    ///   is rewound later: then it gets `.hangUp` whenever it is added again, and a new source
    ///   reads on. Sources for other events are served until they are invalidated. Such a source
    ///   has two descriptors of its own.
    ///
    /// If the kernel has no room to watch the descriptor when a run asks it to, the source becomes
    /// invalid, and its handler is called once, with `.hangUp`. The descriptor is non-blocking
    /// during that call; if the handler closes it, the file is closed when the call has ended.
    ///
    /// Invalidate or remove a source before you close its descriptor, because the number may be
    /// reused at once. If a duplicate of it stays open, the kernel goes on reporting it, which
    /// nothing can stop: to invalidate or remove the source then traps.
    ///
    /// See *Port-Based Sources* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class DescriptorSource: PortSource {
        /// The events that a source can wait for.
        public typealias Events = DescriptorEvents

        /// The link between the source and its loop.
        public let link: PortLink

        /// Creates a source for a descriptor.
        ///
        /// Add it to a loop with
        /// ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.PortSource,_,_,_)``.
        ///
        /// The caller keeps owning the descriptor. Its flags are not changed before a run can serve
        /// it.
        ///
        /// > Threading: The thread whose loop serves the source, because the handler is bound to
        /// > it.
        ///
        /// - Parameters:
        ///   - descriptor: An open descriptor of a pipe, socket, terminal, eventfd or the like; or
        ///     a standard descriptor, whatever it refers to.
        ///   - events: The events to wait for; bits that stand for none are left out.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - handler: Called on the loop's thread with the events that occurred.
        /// - Throws: ``RunLoopError`` if the descriptor is closed or of a kind that cannot be
        ///   watched: a directory, or a file that the program has opened itself; or if a file that
        ///   is a standard descriptor needs two more, and none are left.
        public convenience init(
            _ descriptor: CInt,
            events: Events,
            order: Int = 0,
            handler: @escaping (DescriptorSource, Events) -> Void
        ) throws(RunLoopError) {
            try self.init(descriptor, events, order, HomeBound(DescriptorCall(body: handler)))
        }

        /// Creates a source for a descriptor, whose handler may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - descriptor: An open descriptor of a pipe, socket, terminal, eventfd or the like; or
        ///     a standard descriptor, whatever it refers to.
        ///   - events: The events to wait for; bits that stand for none are left out.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - sendableHandler: Called on the loop's thread with the events that occurred.
        /// - Throws: ``RunLoopError`` if the descriptor is closed or of a kind that cannot be
        ///   watched: a directory, or a file that the program has opened itself; or if a file that
        ///   is a standard descriptor needs two more, and none are left.
        @_disfavoredOverload
        public convenience init(
            _ descriptor: CInt,
            events: Events,
            order: Int = 0,
            sendableHandler: @escaping @Sendable (DescriptorSource, Events) -> Void
        ) throws(RunLoopError) {
            try self.init(
                descriptor,
                events,
                order,
                HomeBound(sendable: DescriptorCall(body: sendableHandler))
            )
        }

        // `endsWithLoop`: it becomes invalid when the thread of its loop ends.
        init(
            _ descriptor: CInt,
            _ events: Events,
            _ order: Int,
            _ handler: HomeBound<DescriptorCall>,
            endsWithLoop: Bool = false
        ) throws(RunLoopError) {
            let isReadOnly = events.contains(.readable) && !events.contains(.writable)
            let standIn = try RunLoopError.translating(
                try DescriptorProbe.check(descriptor, isReadOnly: isReadOnly),
                of: .descriptor
            )
            self.descriptor = descriptor
            link = PortLink(
                descriptor: standIn?.descriptor ?? descriptor,
                events: events.intersection([.readable, .writable, .hangUp]),
                order: order,
                warnsAs: "a descriptor source",
                receiver: DescriptorReceiver(handler, standIn, endsWithLoop: endsWithLoop)
            )
        }

        /// The watched descriptor.
        public let descriptor: CInt

        /// The events that the source waits for.
        public var events: Events { link.events }

        /// Whether the source may still be served: it was not invalidated, and the kernel did not
        /// refuse it.
        public var isValid: Bool { link.isValid }

        /// Removes the source from its loop permanently.
        ///
        /// When this returns, the kernel no longer watches the descriptor, if this was its last
        /// source. Called on the loop's thread, no call of the handler begins after this has
        /// returned.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            UVRunLoop.invalidate(self)
        }
    }
}

/// Calls a descriptor source's handler.
private final class DescriptorReceiver: PortReceiver {
    typealias Events = UVRunLoop.DescriptorEvents

    private let handler: HomeBound<DescriptorCall>
    /// Watched instead of a file, which the description of the source names.
    private let standIn: FileStandIn?

    /// Whether the source becomes invalid with its loop; others may be added to another one.
    private let endsWithLoop: Bool

    init(
        _ handler: HomeBound<DescriptorCall>,
        _ standIn: FileStandIn?,
        endsWithLoop: Bool
    ) {
        self.handler = handler
        self.standIn = standIn
        self.endsWithLoop = endsWithLoop
    }

    func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {
        handler.home.check(is: thread, caller)
        standIn?.process.require(
            caller,
            "reads a file for the parent process. Create a new one in this one."
        )
    }

    var fact: String? { standIn.map { "in place of descriptor \($0.file)" } }

    func receive(port source: UVRunLoop.DescriptorSource, _ events: Events) -> ServeResult {
        guard handler.lend({ $0.body(source, events) }) else {
            return ServeResult(wasHandled: false)
        }
        standIn?.hangUpAtEnd()
        return ServeResult(wasHandled: true)
    }

    /// The loop has given the descriptor back, and the handler may read it nevertheless.
    func receive(port source: UVRunLoop.DescriptorSource, refusal error: UVError) -> ServeResult {
        NonBlockingUse.whileNonBlocking(source.descriptor) { receive(port: source, .hangUp) }
    }

    func releaseHandler() {
        standIn?.close()
        handler.release()
    }

    func loopDidEnd(port source: UVRunLoop.DescriptorSource) {
        if endsWithLoop { source.invalidate() }
    }
}
