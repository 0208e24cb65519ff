internal import CUVSupport
internal import UVLibc
import UVRunLoop

/// The identity of this process, and whether other processes are alive.
enum Process {
    static var id: pid_t { getpid() }

    static var user: uid_t { geteuid() }

    /// Whether a process is alive, whatever its user.
    ///
    /// A zombie is not: its files are closed, and only its status remains. A pidfd distinguishes it
    /// from a process whose main thread alone has exited; `/proc` does not.
    static func isAlive(_ id: pid_t) -> Bool {
        let handle = cuv_child_open(id)
        switch handle {
        // No process has the number, or it is the id of another process's thread.
        case -ESRCH, -EINVAL, -ENOENT: return false
        // Without pidfds, or descriptors for them, a process with the number is taken to be alive.
        case ..<0: return kill(id, 0) == 0 || errno != ESRCH
        default: break
        }
        let descriptor = Descriptor(owning: handle)
        var state = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        // An interrupted poll is no evidence that it ended.
        return unsafe poll(&state, 1, 0) <= 0
    }
}
