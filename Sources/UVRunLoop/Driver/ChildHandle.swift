internal import CUVSupport
import Glibc

/// A pidfd of a child process: a descriptor that is ready when the child has ended.
final class ChildHandle: Sendable {
    typealias ExitStatus = UVRunLoop.ChildSource.ExitStatus

    let descriptor: CInt
    private let isOpen = Guarded(true)

    /// Finds a child.
    ///
    /// - Throws: `ESRCH` when there is no such process, `ECHILD` when it is not a child,
    ///   `ENOSYS` or `EINVAL` from a kernel that is too old.
    init(_ process: pid_t) throws(UVError) {
        descriptor = try Self.open(process)
        do {
            var end = cuv_end()
            try accepted(unsafe cuv_child_end(descriptor, 1, &end))
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func open(_ process: pid_t) throws(UVError) -> CInt {
        let descriptor = cuv_child_open(process)
        // The number is no process's, or that of a thread only.
        let isNone = descriptor == -EINVAL || descriptor == -ENOENT
        return try accepted(isNone ? -ESRCH : descriptor)
    }

    /// Takes the status of the child, which leaves the table of processes by that.
    ///
    /// - Returns: The status; `nil` while the child has not ended.
    func takeStatus() -> ExitStatus? {
        isOpen.withLock { isOpen in
            guard isOpen else { return nil }
            var end = cuv_end()
            let answer = unsafe cuv_child_end(descriptor, 0, &end)
            guard answer >= 0 else { return .unknown }
            return answer == 0 ? nil : ExitStatus(end)
        }
    }

    /// Lets go of the child, whatever has become of it.
    func end() {
        isOpen.withLock { isOpen in
            if exchange(&isOpen, with: false) { close(descriptor) }
        }
    }

    deinit { end() }
}

extension UVRunLoop.ChildSource.ExitStatus {
    fileprivate init(_ end: cuv_end) {
        switch end.code {
        case CInt(cuv_end_exited): self = .exited(code: end.status)
        case CInt(cuv_end_killed): self = .signaled(signal: end.status, coreDumped: false)
        case CInt(cuv_end_dumped): self = .signaled(signal: end.status, coreDumped: true)
        default: self = .unknown
        }
    }
}
