internal import CUVSupport
import Glibc

/// Who the process is, and whether others still live.
enum Process {
    static var id: pid_t { getpid() }

    static var user: uid_t { geteuid() }

    /// Whether a process has not ended; one of another user's counts.
    ///
    /// A zombie has ended: its files are closed, and only its parent has not asked for its status.
    /// A pidfd tells it from a process whose main thread alone has ended, which `/proc` does not.
    static func isAlive(_ id: pid_t) -> Bool {
        let handle = cuv_child_open(id)
        switch handle {
        // The number is nobody's, or that of another process's thread.
        case -ESRCH, -EINVAL, -ENOENT: return false
        // Where there are no pidfds, or none are left, what has the number is taken to live.
        case ..<0: return kill(id, 0) == 0 || errno != ESRCH
        default: break
        }
        let descriptor = Descriptor(owning: handle)
        var state = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        // A question that was interrupted says nothing.
        return unsafe poll(&state, 1, 0) <= 0
    }
}
