extension UVRunLoop {
    /// Reports that a child process has ended, and how.
    ///
    /// It waits for that process only: the statuses of other children are not collected, and
    /// `SIGCHLD` is left alone. The child's own status is collected, as by `waitpid`, right before
    /// the handler is called, once. The source is valid during the call and invalid afterwards; if
    /// the kernel refuses to watch the child, it is invalid during the call, too. If it becomes
    /// invalid earlier, the child's status can still be collected by other code.
    ///
    /// The source becomes invalid when the thread of its loop ends.
    ///
    /// Requires Linux 5.4 or later.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class ChildSource: PortSource {
        /// How a child process ended.
        ///
        /// > Threading: Any thread.
        public enum ExitStatus: Hashable, Sendable {
            /// The process exited, with a code from 0 to 255.
            case exited(code: CInt)
            /// A signal killed the process.
            case signaled(signal: CInt, coreDumped: Bool)
            /// The process has ended, but its status is lost: other code has collected it, or the
            /// process ignores `SIGCHLD`, which makes the system discard statuses. Or the kernel
            /// has no room to watch the process, which may go on then.
            case unknown
        }

        /// The link between the source and its loop.
        public let link: PortLink
        /// The process ID of the child.
        public let process: CInt

        /// Creates a source for a child of this process.
        ///
        /// The child may have ended already, if its status was not collected. Add the source to a
        /// loop with ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.PortSource,_,_,_)``. It takes
        /// one file descriptor.
        ///
        /// > Threading: The thread whose loop serves the source, because the handler is bound to
        /// > it.
        ///
        /// - Parameters:
        ///   - process: The child's process ID, as returned by `fork` or `posix_spawn`.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - handler: Called once on the loop's thread, when the child has ended.
        /// - Throws: ``RunLoopError`` if there is no such child, if no descriptors are left, or if
        ///   the kernel is too old (`ENOSYS` or `EINVAL`).
        public convenience init(
            _ process: CInt,
            order: Int = 0,
            handler: @escaping (ChildSource, ExitStatus) -> Void
        ) throws(RunLoopError) {
            try self.init(process, order, HomeBound(ChildReceiver.taker(for: handler)))
        }

        /// Creates a source for a child of this process, whose handler may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - process: The child's process ID, as returned by `fork` or `posix_spawn`.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - sendableHandler: Called once on the loop's thread, when the child has ended.
        /// - Throws: ``RunLoopError`` if there is no such child, if no descriptors are left, or if
        ///   the kernel is too old.
        @_disfavoredOverload
        public convenience init(
            _ process: CInt,
            order: Int = 0,
            sendableHandler: @escaping @Sendable (ChildSource, ExitStatus) -> Void
        ) throws(RunLoopError) {
            let taker = ChildReceiver.taker(for: sendableHandler)
            try self.init(process, order, HomeBound(sendable: taker))
        }

        /// Creates a source whose handler takes the status itself, when it is there.
        ///
        /// - Parameters:
        ///   - process: The child's process ID.
        ///   - taker: Returns whether it has taken the status, or will get none.
        /// - Throws: ``RunLoopError``, as for the other initialisers.
        convenience init(
            _ process: CInt,
            taker: @escaping @Sendable (ChildFinding) -> Bool
        ) throws(RunLoopError) {
            try self.init(process, 0, HomeBound(sendable: { taker($1) }))
        }

        private init(
            _ process: CInt,
            _ order: Int,
            _ taker: HomeBound<ChildReceiver.Taker>
        ) throws(RunLoopError) {
            let child = try RunLoopError.translating(try ChildHandle(process), of: .child)
            self.process = process
            link = PortLink(
                descriptor: child.descriptor,
                events: .readable,
                order: order,
                warnsAs: "a child source",
                receiver: ChildReceiver(process, child, taker)
            )
        }

        /// Whether the call of the handler is still to come or in progress.
        public var isValid: Bool { link.isValid }

        /// Removes the source from its loop permanently.
        ///
        /// The child's status is not collected, unless the call has begun. Called on the loop's
        /// thread, no call of the handler begins after this has returned.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            UVRunLoop.invalidate(self)
        }
    }
}

/// The finding of a child source.
enum ChildFinding {
    /// The child may have ended.
    case isReady(ChildHandle)
    /// The kernel does not watch the child.
    case isUnwatched(UVError)
}

/// Has a child's status taken when the child has ended.
private final class ChildReceiver: PortReceiver {
    typealias ExitStatus = UVRunLoop.ChildSource.ExitStatus
    /// Takes the status, unless it is left to other code; returns whether the source is done.
    typealias Taker = (UVRunLoop.ChildSource, ChildFinding) -> Bool

    private let process: CInt
    private let child: ChildHandle
    private let taker: HomeBound<Taker>

    init(_ process: CInt, _ child: ChildHandle, _ taker: HomeBound<Taker>) {
        self.process = process
        self.child = child
        self.taker = taker
    }

    var fact: String? { "process \(process)" }

    /// Takes the status and calls a handler with it.
    static func taker(
        for handler: @escaping (UVRunLoop.ChildSource, ExitStatus) -> Void
    ) -> Taker {
        { source, finding in
            switch finding {
            case .isReady(let child):
                guard let status = child.takeStatus() else { return false }
                handler(source, ExitStatus(status))
            case .isUnwatched: handler(source, .unknown)
            }
            return true
        }
    }

    func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {
        taker.home.check(is: thread, caller)
    }

    func receive(
        port source: UVRunLoop.ChildSource,
        _ events: UVRunLoop.DescriptorEvents
    ) -> ServeResult {
        serve(source, .isReady(child))
    }

    func receive(port source: UVRunLoop.ChildSource, refusal error: UVError) -> ServeResult {
        serve(source, .isUnwatched(error))
    }

    private func serve(_ source: UVRunLoop.ChildSource, _ finding: ChildFinding) -> ServeResult {
        guard let take = taker.current, take(source, finding) else {
            return ServeResult(wasHandled: false)
        }
        source.invalidate()
        return ServeResult(wasHandled: true)
    }

    func releaseHandler() {
        child.end()
        taker.release()
    }

    func loopDidEnd(port source: UVRunLoop.ChildSource) { source.invalidate() }
}

extension UVRunLoop.ChildSource.ExitStatus {
    package init(_ end: ChildHandle.End) {
        switch end {
        case .exited(let code): self = .exited(code: code)
        case .signaled(let signal, let coreDumped):
            self = .signaled(signal: signal, coreDumped: coreDumped)
        case .unknown: self = .unknown
        }
    }
}
