import Injection

/// The results of faults that cannot be mended here, and their causes.
enum Known {
    /// Calls on which libuv itself ends the process, and what the library does to avoid them.
    private static let aborts: [(call: String, reason: String)] = [
        (
            "epoll_ctl_del",
            "uv_poll_init tries a descriptor by adding it and taking it out, and aborts where it "
                + "was added and cannot be taken out; only a filter of system calls does that"
        ),
        (
            "epoll_ctl_mod",
            "libuv changes what its set holds: only a filter of system calls refuses that"
        ),
        (
            "epoll_wait",
            "an epoll set that is open gives EINTR and no other error but a filter's; a program "
                + "that filters system calls has to let it pass"
        ),
        (
            "pipe2",
            "the first loop of a process needs a pipe for signals; DescriptorReserve makes sure of "
                + "the descriptors, and throws"
        ),
        (
            "pthread_create",
            "libuv's pool aborts where one of its threads cannot be started; ThreadPool starts as "
                + "many of its own before, and throws"
        ),
        (
            "pthread_sigmask",
            "libuv blocks all signals while it starts a child: only a filter of system calls "
                + "refuses that"
        ),
        (
            "read",
            "an eventfd that is readable can be read; a program that filters system calls has to "
                + "let it pass"
        ),
        (
            "realloc",
            "there is no memory for the table of descriptors; Swift ends the process without "
                + "memory, too"
        ),
        (
            "sigaction",
            "libuv handles SIGCHLD while it starts a child: only a filter of system calls refuses "
                + "that"
        ),
        (
            "write",
            "an eventfd that is not full takes a wake-up; a program that filters system calls has "
                + "to let it pass"
        ),
    ]

    static func abort(at fault: Fault) -> String? {
        aborts.first { $0.call == fault.callName }?.reason
    }

    /// Calls on which the library ends the process, with a sentence that names the cause.
    private static let traps: [(call: String, reason: String)] = [
        (
            "epoll_ctl_del",
            "the kernel goes on reporting what it cannot be told to leave out: ends the process with "
                + "a sentence; only a filter of system calls does that to a descriptor that is open"
        ),
        (
            "pthread_key_create",
            "no thread-specific key is left (PTHREAD_KEYS_MAX): ends the process with a sentence"
        ),
        (
            "pthread_setspecific",
            "no memory for a thread's run loop: ends the process with a sentence"
        ),
    ]

    static func trap(at fault: Fault) -> String? {
        traps.first { $0.call == fault.callName }?.reason
    }

    /// Further known troubles, and the complaints about them.
    private static let troubles: [(call: String, complaint: String, reason: String)] = [
        (
            "epoll_wait", "spins",
            "the set of a message port cannot be asked: only a filter of system calls does that"
        ),
        (
            "epoll_ctl_del", "O_NONBLOCK",
            "what the kernel does not watch is taken for another file, whose flag is left alone: "
                + "only a filter of system calls does that to a descriptor that is open"
        ),
        (
            "fcntl", "O_NONBLOCK",
            "the flag of an open file cannot be given back: only a filter of system calls does that"
        ),
        (
            "read", "system.child: missing: what the child sends back",
            "a pipe that cannot be read has ended: only a filter of system calls does that"
        ),
        (
            "read", "system.wall: spins",
            "a timerfd that is readable can be read: only a filter of system calls refuses that"
        ),
        (
            "sendmmsg", "system.datagrams: spins",
            "libuv sends again as soon as a socket is writable, while the kernel has no buffers: "
                + "on Linux it drops datagrams instead"
        ),
        (
            "sigaction", "disposition",
            "a disposition cannot be given back: only a filter of system calls does that"
        ),
        (
            "write", "a signal",
            "a signal's handler cannot tell of it: only a filter of system calls does that"
        ),
    ]

    static func trouble(_ fault: Fault, _ complaint: String) -> String? {
        let complaint = "\(fault.operation.name): \(complaint)"
        return troubles.first { $0.call == fault.callName && complaint.contains($0.complaint) }?
            .reason
    }
}
