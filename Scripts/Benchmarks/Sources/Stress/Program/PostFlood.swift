import BenchSupport
import Glibc
import Synchronization
import UVRunLoop

/// Blocks from several threads for one loop: each runs once and in its sender's order, while the
/// process forks.
final class PostFlood: Sendable {
    /// How many blocks may wait, so that memory lasts.
    private static let window = 200_000

    private let count: Int
    private let senders: Int
    private let loop = Signpost<UVRunLoop>()
    private let posted = Number()
    private let run = Number()
    private let forks = Number()

    /// The counter of a sender's blocks, on the loop's thread.
    private final class Turn { var number = 0 }

    init(count: Int, senders: Int) {
        self.count = count / senders * senders
        self.senders = senders
    }

    func main() {
        let start = now()
        PosixThread { demand(ChildProgram.run() == 0, "loops to work", "a check fail") }.join()
        let receiver = PosixThread { [self] in receive() }
        let loop = loop.wait()
        let threads = (0..<senders).map { _ in PosixThread { [self] in send(to: loop) } }
        if ForkTraffic.isPossible { fork(while: { [self] in posted.value < count }) }
        threads.forEach { $0.join() }
        receiver.join()
        let seconds = Double(now() - start) / 1e9
        Output.say(
            """
            stress: passed. \(Text.grouped(run.value)) blocks from \(senders) threads ran once and \
            in order in \(Text.decimal(seconds, 1)) s; \(forks.value) children forked meanwhile.
            """
        )
    }

    private func receive() {
        let loop = UVRunLoop.current
        let keeper = UVRunLoop.Source { _ in }
        loop.add(keeper, forMode: .default)
        self.loop.set(loop)
        while run.value < count {
            let before = run.value
            let result = loop.run(mode: .default, for: .seconds(60))
            demand(
                result == .stopped || run.value > before,
                "a block within a minute",
                "\(run.value) of \(count) run, \(posted.value) posted"
            )
        }
        demand(run.value == count, "\(count) blocks to run once", "\(run.value)")
        demand(loop.run(mode: .default, for: .zero) == .timedOut, "no more to run", "a stop")
        keeper.invalidate()
    }

    private func send(to loop: UVRunLoop) {
        let turn = Handover(Turn())
        for number in 0..<count / senders {
            while posted.value - run.value > Self.window { usleep(1_000) }
            posted.add()
            loop.perform { [self] in
                demand(
                    turn.value.number == number,
                    "block \(turn.value.number) of a thread next",
                    "\(number)"
                )
                turn.value.number += 1
                if run.add() == count { loop.stop() }
            }
        }
    }

    private func fork(while isGoing: () -> Bool) {
        while isGoing() {
            let child = Glibc.fork()
            demand(child >= 0, "the system to fork", "error \(errno)")
            if child == 0 {
                alarm(60)
                _exit(ChildProgram.run())
            }
            var status: CInt = -1
            while waitpid(child, &status, 0) == -1, errno == EINTR {}
            demand(status == 0, "a forked child to use loops and end", "status \(status)")
            forks.add()
            usleep(20_000)
        }
    }
}
