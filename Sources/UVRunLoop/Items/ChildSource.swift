extension UVRunLoop {
    /// Tells when a child process has ended, and how.
    ///
    /// It waits for that one process and no other: statuses of other children stay with them, and
    /// `SIGCHLD` is left alone. The child's own status is taken, as `waitpid` would, right before
    /// the handler is called, once; the source is valid in the call and invalid afterwards. A
    /// source that becomes invalid earlier leaves the child, and its status, to whoever waits for
    /// it.
    ///
    /// When the thread of its loop ends, the source becomes invalid.
    ///
    /// Linux 5.4 or later is needed.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class ChildSource: PortSource {
        /// How a child process ended.
        ///
        /// > Threading: Any thread.
        public enum ExitStatus: Hashable, Sendable {
            /// It ended by itself, with a code from 0 to 255.
            case exited(code: CInt)
            /// A signal ended it.
            case signaled(signal: CInt, coreDumped: Bool)
            /// It has ended, and its status is lost: somebody else waited for it first, or the
            /// process ignores `SIGCHLD`, which makes the system forget statuses.
            case unknown
        }

        /// What a loop knows the source by.
        public let link: PortLink
        /// The child's number.
        public let process: CInt

        /// Makes a source for a child of this process.
        ///
        /// The child may have ended already, as long as nobody has waited for it. Add the source
        /// to a loop with ``UVRunLoop/add(_:forMode:)-(UVRunLoop.PortSource,_)``. It takes one file
        /// descriptor.
        ///
        /// > Threading: The thread whose loop is to serve the source, because the handler stays on
        /// it.
        ///
        /// - Parameters:
        ///   - process: The child, as `fork` or `posix_spawn` gave it.
        ///   - order: The turn among sources that become ready at the same time; lower ones first.
        ///   - handler: Called once on the loop's thread, when the child has ended.
        /// - Throws: ``RunLoopError`` when there is no such child, when no descriptors are left,
        ///   or when the kernel is too old (`ENOSYS` or `EINVAL`).
        public convenience init(
            _ process: CInt,
            order: Int = 0,
            handler: @escaping (ChildSource, ExitStatus) -> Void
        ) throws(RunLoopError) {
            try self.init(process, order, ThreadBound(handler))
        }

        /// Makes a source for a child of this process, whose handler may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - process: The child, as `fork` or `posix_spawn` gave it.
        ///   - order: The turn among sources that become ready at the same time; lower ones first.
        ///   - sendableHandler: Called once on the loop's thread, when the child has ended.
        /// - Throws: ``RunLoopError`` when there is no such child, when no descriptors are left,
        ///   or when the kernel is too old.
        @_disfavoredOverload
        public convenience init(
            _ process: CInt,
            order: Int = 0,
            sendableHandler: @escaping @Sendable (ChildSource, ExitStatus) -> Void
        ) throws(RunLoopError) {
            try self.init(process, order, ThreadBound(sendable: sendableHandler))
        }

        private init(
            _ process: CInt,
            _ order: Int,
            _ handler: ThreadBound<(ChildSource, ExitStatus) -> Void>
        ) throws(RunLoopError) {
            let child: ChildHandle
            do {
                child = try ChildHandle(process)
            } catch {
                throw RunLoopError(ofChild: error)
            }
            self.process = process
            link = PortLink(
                descriptor: child.descriptor,
                events: .readable,
                order: order,
                receiver: ChildReceiver(child, handler)
            )
        }

        /// Its turn among sources that become ready at the same time; lower ones are served first.
        ///
        /// Numbers of more than 32 bits count as the nearest of 32.
        public var order: Int { link.order }

        /// Whether the call is still to come or under way.
        public var isValid: Bool { link.isValid }

        /// Takes the source out of its loop for good.
        ///
        /// The child's status stays with the child, unless the call has begun. On the loop's
        /// thread no call begins any more when this returns.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            UVRunLoop.invalidate(self)
        }
    }
}

/// Takes a child's status and calls the source's handler with it.
private final class ChildReceiver: TypedPortReceiver {
    typealias ExitStatus = UVRunLoop.ChildSource.ExitStatus

    private let child: ChildHandle
    private let handler: Handler<(UVRunLoop.ChildSource, ExitStatus) -> Void>

    init(
        _ child: ChildHandle,
        _ body: ThreadBound<(UVRunLoop.ChildSource, ExitStatus) -> Void>
    ) {
        self.child = child
        handler = Handler(body)
    }

    func checkHome(is thread: ThreadIdentity) { handler.checkHome(is: thread) }

    func receive(
        port source: UVRunLoop.ChildSource,
        _ events: UVRunLoop.DescriptorSource.Events
    ) -> ServeResult {
        guard let body = handler.current, let status = child.takeStatus() else {
            return ServeResult(wasHandled: false)
        }
        body(source, ExitStatus(status))
        source.invalidate()
        return ServeResult(wasHandled: true)
    }

    func releaseHandler(in loop: UVRunLoop?) {
        child.end()
        handler.release()
    }

    func loopDidEnd(port source: UVRunLoop.ChildSource) { source.invalidate() }
}

extension UVRunLoop.ChildSource.ExitStatus {
    fileprivate init(_ end: ChildHandle.End) {
        switch end {
        case .exited(let code): self = .exited(code: code)
        case .signaled(let signal, let coreDumped):
            self = .signaled(signal: signal, coreDumped: coreDumped)
        case .unknown: self = .unknown
        }
    }
}
