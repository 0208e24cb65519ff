internal import CUVSupport

/// A pidfd of a child process, which is readable when the child has ended.
package final class ChildHandle: Sendable {
    /// How a process ended.
    package enum End {
        case exited(code: CInt)
        case signaled(signal: CInt, coreDumped: Bool)
        /// The status is not available.
        case unknown
    }

    package let descriptor: CInt
    private let process: Guarded<Descriptor?>

    /// Opens a pidfd for a child.
    ///
    /// - Throws: `ESRCH` if there is no such process, `ECHILD` if it is not a child, `ENOSYS` or
    ///   `EINVAL` if the kernel is too old.
    package init(_ process: CInt) throws(UVError) {
        let opened = try Self.open(process)
        var end = cuv_end()
        try accepted(unsafe cuv_child_end(opened.number, 1, &end))
        descriptor = opened.number
        self.process = Guarded(opened)
    }

    private static func open(_ process: pid_t) throws(UVError) -> Descriptor {
        let descriptor = cuv_child_open(process)
        // The number is not a process ID, or is the ID of a thread.
        let isNone = descriptor == -EINVAL || descriptor == -ENOENT
        return try Descriptor(opened: isNone ? -ESRCH : descriptor)
    }

    /// Collects the child's status, which removes the child from the process table.
    ///
    /// - Returns: The status; `nil` while the child is running.
    @discardableResult
    package func takeStatus() -> End? { status(isTaken: true) }

    /// The child's status, which is left to be collected; `nil` while the child is running.
    package var status: End? { status(isTaken: false) }

    private func status(isTaken: Bool) -> End? {
        process.withLock { process in
            guard process != nil else { return nil }
            var end = cuv_end()
            let status = unsafe cuv_child_end(descriptor, isTaken ? 0 : 1, &end)
            guard status >= 0 else { return .unknown }
            return status == 0 ? nil : End(end)
        }
    }

    /// Sends a signal to the child.
    ///
    /// - Throws: `ESRCH` if the handle was closed or the child has ended; `EINVAL` for a number
    ///   that is no signal; `EPERM` if it is not permitted.
    package func send(_ signal: CInt) throws(UVError) {
        let status = process.withLock { process in
            var end = cuv_end()
            // The kernel accepts signals to a child whose status was not collected.
            guard process != nil, unsafe cuv_child_end(descriptor, 1, &end) == 0 else {
                return -ESRCH
            }
            return cuv_child_signal(descriptor, signal)
        }
        try accepted(status)
    }

    /// Kills the child, unless it has ended.
    package func kill() { try? send(SIGKILL) }

    /// Waits for the end of a child that was killed, and collects its status.
    ///
    /// Only for the thread that closes the handle: the lock is not held for so long.
    package func awaitEnd() {
        if process.withLock({ $0 != nil }) { cuv_child_await_end(descriptor) }
    }

    /// Closes the handle, whether the child has ended or not.
    package func end() { process.withLock { $0 = nil } }
}

extension ChildHandle.End {
    fileprivate init(_ end: cuv_end) {
        switch end.code {
        case CInt(cuv_end_exited): self = .exited(code: end.status)
        case CInt(cuv_end_killed): self = .signaled(signal: end.status, coreDumped: false)
        case CInt(cuv_end_dumped): self = .signaled(signal: end.status, coreDumped: true)
        default: self = .unknown
        }
    }
}
