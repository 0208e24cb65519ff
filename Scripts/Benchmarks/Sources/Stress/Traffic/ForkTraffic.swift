import Glibc
import UVRunLoop

/// Child processes, forked while other threads are in the midst of whatever they do: in each, loops
/// work as if it were new, and the parent's notice nothing.
final class ForkTraffic: Traffic {
    /// How many there may be at a time.
    private static let permits = Number(2)

    private let worker: Worker

    init(_ worker: Worker) { self.worker = worker }

    func act(_ generator: inout Generator) {
        guard Self.isPossible, generator.once(in: 40) else { return }
        defer { Self.permits.add() }
        guard Self.permits.add(-1) >= 0 else { return }
        let isLost = Fault.losesChild.strikes(worker.settings.fault)
        let child = fork()
        demand(child >= 0, "the system to fork", "error \(errno)")
        if child == 0 {
            // One that hangs is ended, and found out by that.
            alarm(60)
            _exit(isLost ? 1 : ChildProgram.run())
        }
        var status: CInt = -1
        while waitpid(child, &status, 0) == -1, errno == EINTR {}
        demand(
            status == 0,
            "a forked child to use loops and end",
            status & 0x7F != 0
                ? "signal \(status & 0x7F) end it" : "check \(status >> 8) of it fail"
        )
        worker.tally.count(.childrenEnded)
    }
}

extension ForkTraffic {
    /// Whether a child may start threads: the thread sanitizer's own locks may be held in it.
    #if THREAD_SANITIZER
    static let isPossible = false
    #else
    static let isPossible = true
    #endif
}

/// The use of loops in a child.
///
/// Nothing in it takes a lock of this program, which may be held by a thread that is not there.
enum ChildProgram {
    /// Uses each kind of item; answers 0, or the number of the check that failed.
    ///
    /// To be called once before the first fork: what the language makes at the first use of a type
    /// is made under locks that a child inherits as they are.
    static func run() -> CInt {
        let loop = UVRunLoop.current
        var events: [String] = []
        let observer = UVRunLoop.Observer(activities: .entry) { _, _ in events.append("entry") }
        loop.add(observer, forMode: .default)
        let source = UVRunLoop.Source { _ in events.append("source") }
        loop.add(source, forMode: .default)
        source.signal()
        loop.performLocally { events.append("block") }
        let port = UVRunLoop.Port { _, _ in events.append("port") }
        loop.add(port, forMode: .default)
        guard port.send(.init(), limit: .zero) else { return 1 }
        let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
            events.append("timer")
            loop.stop()
        }
        loop.add(timer, forMode: UVRunLoop.Mode(rawValue: "kCFRunLoopDefaultMode"))
        guard loop.run(mode: .default, for: .seconds(30)) == .stopped else { return 2 }
        guard events == ["entry", "block", "source", "port", "timer"] else { return 3 }
        observer.invalidate()
        source.invalidate()
        port.invalidate()
        return usesThread() ? readsPipe(loop) : 4
    }

    private static func usesThread() -> Bool {
        guard let thread = try? UVRunLoop.Thread() else { return false }
        let answer = try? thread.runLoop.performAndWait { 7 }
        thread.stop()
        thread.join()
        return answer == 7
    }

    private static func readsPipe(_ loop: UVRunLoop) -> CInt {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return 5 }
        defer { for end in ends { close(end) } }
        var isRead = false
        let source = try? UVRunLoop.DescriptorSource(ends[0], events: .readable) { source, _ in
            isRead = true
            source.invalidate()
        }
        guard let source, write(ends[1], "x", 1) == 1 else { return 6 }
        loop.add(source, forMode: .default)
        guard loop.run(mode: .default, for: .seconds(30)) == .finished, isRead else { return 7 }
        return 0
    }
}
