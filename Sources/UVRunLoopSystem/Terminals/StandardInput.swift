import UVRunLoop

extension UVRunLoop {
    /// Reads the standard input, whatever it is: a terminal, a pipe, a socket, a file or
    /// `/dev/null`.
    ///
    /// The bytes are delivered in the modes to which the source was added, one read per call. What is
    /// not taken stays in the kernel. After the end of the input, or a failure, the source becomes
    /// invalid. The descriptor is not closed. Descriptors 0, 1 and 2 keep their blocking mode,
    /// which they share with other processes; another one is non-blocking while it is watched. For a
    /// file or `/dev/null`, which the kernel does not watch, the source has two descriptors of its
    /// own until it is invalid.
    ///
    /// Several may read one input, also of several processes; each byte is delivered to one of them.
    /// If the descriptor is blocking, and is not a socket or an unnamed pipe, or the kernel is older
    /// than Linux 6.4, give an input one reader: what another one has read just before may block
    /// the loop until there is more.
    ///
    /// When a process in the background of its terminal has input, the kernel sends `SIGTTIN`, which
    /// stops the process until it is in the foreground; where a source or other code handles the
    /// signal, it is called instead, again for as long as the input is there.
    ///
    /// The source becomes invalid when the thread of its loop ends while it is in a mode.
    ///
    /// See *Input Sources* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class StandardInput: PortSource {
        /// Something that has happened to the input.
        public enum Event: Hashable, Sendable {
            /// Bytes were read; at most 65,536.
            case bytes([UInt8])
            /// The input has ended; nothing follows.
            case ended
            /// Reading has failed; nothing follows.
            case failed(SystemError)
        }

        /// The link between the source and its loop.
        public let link: PortLink
        private let receiver: EventReceiver<StandardInput, Event>

        /// Creates a source for the standard input.
        ///
        /// Add it to a loop with
        /// ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.PortSource,_,_,_)``.
        ///
        /// > Threading: The thread whose loop serves the source, because the handler is bound to
        /// > it.
        ///
        /// - Parameters:
        ///   - descriptor: Another descriptor to read, of a pipe, socket or terminal.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - handler: Called on the loop's thread with each event.
        /// - Throws: ``SystemError`` if the descriptor is closed or cannot be read so.
        public convenience init(
            descriptor: CInt = 0,
            order: Int = 0,
            handler: @escaping (StandardInput, Event) -> Void
        ) throws(SystemError) {
            try self.init(descriptor, order, handler)
        }

        /// Creates a source whose events are taken by a task; see ``events``.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - descriptor: Another descriptor to read, of a pipe, socket or terminal.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        /// - Throws: ``SystemError`` if the descriptor is closed or cannot be read so.
        public convenience init(
            descriptor: CInt = 0,
            order: Int = 0
        ) throws(SystemError) {
            try self.init(descriptor, order, nil)
        }

        private init(
            _ descriptor: CInt,
            _ order: Int,
            _ handler: ((StandardInput, Event) -> Void)?
        ) throws(SystemError) {
            let reader = try InputReader(descriptor)
            let inbox = EventInbox<Event>()
            receiver = EventReceiver(
                inbox,
                [],
                handler,
                descriptorIsReady: { _, events in
                    if inbox.count == 0, let event = reader.take() { inbox.append(event) }
                    if inbox.holdsUntaken { reader.pause { inbox.holdsUntaken } }
                    if events.contains(.hangUp) { reader.readOn() }
                },
                watchWasRefused: { _, error in
                    if let event = reader.fail(error) { inbox.append(event) }
                },
                didTake: { reader.resume() },
                didRelease: { reader.close() },
                isLast: { event in
                    if case .bytes = event { false } else { true }
                }
            )
            link = receiver.makeLink(
                watching: reader.watched,
                order: order,
                warnsAs: "a standard input"
            )
            reader.attach(link)
        }

        /// The events as a sequence, for a task that takes them instead of a handler.
        ///
        /// > Threading: Any thread.
        public var events: SystemEvents<Event> { SystemEvents(self, receiver) }

        /// Whether there may still be events.
        public var isValid: Bool { link.isValid }

        /// Removes the source from its loop permanently; the descriptor stays open.
        ///
        /// Called on the loop's thread, no call of the handler begins after this has returned.
        ///
        /// > Threading: Any thread.
        public func invalidate() { UVRunLoop.invalidate(self) }

        deinit { receiver.releaseHandler() }
    }
}
