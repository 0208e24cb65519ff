import Glibc
import UVRunLoop

/// Starts a forked child, which ends with the status that a body returns.
///
/// The body makes system calls and uses this library's values, and nothing that needs a thread of
/// the parent's.
package func startChild(endingAfter seconds: UInt32 = 300, _ body: () -> CInt) -> pid_t {
    let child = forkProcess()
    if child == 0 {
        endProcess(after: seconds)
        _exit(body())
    }
    return child
}

/// Forks, and returns in both processes.
private func forkProcess() -> pid_t {
    // Before the fork, because the runtime of Swift 6.3.1 finds generic types under a lock that names
    // the forked thread by the ID that it had in the parent: once another thread of the child has
    // waited for it, both spin for ever. What the child does the first time while it has no other
    // thread is done under that lock from then on.
    _ = openDescriptors()
    let child = fork()
    precondition(child >= 0, "No process could be made.")
    return child
}

/// Starts a forked child that does nothing until a signal ends it.
///
/// It keeps nothing open: other tests wait for the ends of pipes and connections, and on a busy
/// machine minutes may pass before the child is killed.
package func startIdleChild() -> pid_t {
    startChild(endingAfter: 3_600) {
        for descriptor in openDescriptors() where descriptor > STDERR_FILENO { close(descriptor) }
        while true { pause() }
    }
}

/// Runs a body in a forked child; returns how that ended, as ``awaitEnd(of:)`` does.
package func inChild(endingAfter seconds: UInt32 = 300, _ body: () -> CInt) -> CInt {
    awaitEnd(of: startChild(endingAfter: seconds, body))
}

/// Whether what a body does in a forked child traps.
package func trapsInChild(_ body: () -> Void) -> Bool {
    let status = inChild(endingAfter: 60) {
        expectTrap()
        body()
        return 0
    }
    return isTrap(status)
}

/// Forks, and returns in both processes: with 0 in the child, which is expected to trap soon.
package func forkAndReturn() -> pid_t {
    let child = forkProcess()
    if child == 0 {
        endProcess(after: 60)
        expectTrap()
    }
    return child
}

/// Forks; returns `true` in the child, and `false` in the parent when the child has ended.
package func isInForkedChild(_ ended: (CInt) -> Void) -> Bool {
    let child = forkProcess()
    if child == 0 {
        endProcess(after: 300)
        expectTrap()
        return true
    }
    ended(awaitEnd(of: child))
    return false
}

/// A fork in the first call of a handler, which returns in the child, too.
package final class FirstFork: Sendable {
    private let isChild = SharedBox(false)
    private let status = SharedBox<CInt?>(nil)

    package init() {}

    package var hasTrapped: Bool { status.value.map(isTrap) ?? false }

    /// Forks, once, and waits for the child's end; a second call in the child ends it.
    package func callHandler() {
        if isChild.value { _exit(57) }
        guard status.value == nil else { return }
        if isInForkedChild({ status.value = $0 }) { isChild.value = true }
    }
}

/// Whether a status, as of ``awaitEnd(of:)``, is that of a child that has trapped.
package func isTrap(_ status: CInt) -> Bool { status < 0 && status != -SIGALRM }

/// Keeps a trap of this child quiet: its message would be in the parent's output, and nobody needs
/// a backtrace.
private func expectTrap() {
    close(STDERR_FILENO)
    for signal in [SIGILL, SIGTRAP, SIGABRT] { _ = Glibc.signal(signal, SIG_DFL) }
}

/// Runs a body in a process of its own, in which no other thread opens or closes descriptors.
///
/// An exit test's process has such threads: those of the test library. The body has a thread of its
/// own, so it may start others: the forked thread only waits (see ``startChild(endingAfter:_:)``).
package func inQuietProcess(_ body: () throws -> Void) {
    let status = inChild {
        onNewThread {
            do {
                try body()
                return 0
            } catch {
                print("The body threw \(error)")
                fflush(nil)
                return 1
            }
        }
    }
    precondition(status == 0, "The process ended with \(status).")
}

private func onNewThread(_ body: () -> CInt) -> CInt {
    withoutActuallyEscaping(body) { body in
        var status: CInt = 0
        startUncheckedThread { status = body() }.join()
        return status
    }
}

/// Ends the process if it hangs.
package func endProcess(after seconds: UInt32) {
    letThrough(SIGALRM)
    alarm(seconds)
}

/// Has the calling thread let a signal through; threads that run tests, and what they start, block
/// all.
package func letThrough(_ signal: CInt) {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, signal)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
}

/// Waits for a child; its exit status, or the negated number of the signal that ended it.
package func awaitEnd(of child: pid_t) -> CInt {
    var status: CInt = -1
    while waitpid(child, &status, 0) == -1, errno == EINTR {}
    return outcome(of: status)
}

/// Waits for any one of some children, takes it off the list and returns how it ended.
package func awaitFirstEnd(of children: inout [pid_t]) -> CInt {
    while true {
        for (index, child) in children.enumerated() {
            var status: CInt = 0
            guard waitpid(child, &status, WNOHANG) == child else { continue }
            children.remove(at: index)
            return outcome(of: status)
        }
        usleep(200)
    }
}

/// The outcome that a status of waitpid(2) encodes.
package func outcome(of status: CInt) -> CInt {
    status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
}

/// Waits until a child has ended, and leaves it a zombie.
package func awaitZombie(_ child: pid_t) {
    var info = siginfo_t()
    var status: CInt = -1
    repeat {
        status = waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT)
    } while status == -1 && errno == EINTR
    precondition(status == 0, "There is no such child.")
}

/// Whether what an exit test's process wrote has some words in it.
package func says(_ words: String, _ output: [UInt8]?) -> Bool {
    String(decoding: output ?? [], as: UTF8.self).contains(words)
}

/// Has a thread wait for a lock, before the process forks.
///
/// What Swift's runtime does once it does under a lock of the kernel that names the thread, and a
/// forked child goes on with the name that its thread had in the parent: if a second thread comes
/// meanwhile, both wait for ever. Unoptimized code makes the type of a lock's word in that way when
/// a lock is first waited for.
package func waitForALock() {
    let lock = Guarded(0)
    let isHeld = Signal()
    let holder = startThread {
        lock.withLock { _ in
            isHeld.send()
            usleep(20_000)
        }
    }
    isHeld.wait()
    lock.withLock { $0 += 1 }
    holder.join()
}
