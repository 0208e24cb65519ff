import Glibc
import MallocCount
import Synchronization
import UVRunLoop

extension Operation {
    static let signals = [
        Operation("signal", "a source's signal by its own handler, and its handling", count: 1_000)
        { loop in
            let countdown = Countdown(loop)
            let source = UVRunLoop.Source(perform: { source in
                countdown.countOne()
                if countdown.rest > 0 { source.signal() }
            })
            loop.add(source, forMode: .default)
            return { count, round in
                source.signal()
                round.loop { countdown.run(count) }
            }
        },
        Operation("signal.many", "one of 50 signalled sources, in a pass", count: 1_000) { loop in
            var sources: [UVRunLoop.Source] = []
            for _ in 0..<50 {
                let source = UVRunLoop.Source(perform: { _ in })
                loop.add(source, forMode: .default)
                sources.append(source)
            }
            return { count, round in
                round.loop {
                    for _ in 0..<count / sources.count {
                        for source in sources { source.signal() }
                        loop.makePass()
                    }
                }
            }
        },
        Operation("wake", "a signal and wake-up of a sleeping loop", count: 200) { loop in
            let handled = Progress()
            let countdown = Countdown(loop)
            let source = UVRunLoop.Source(perform: { _ in
                countdown.countOne()
                handled.advance()
            })
            loop.add(source, forMode: .default)
            let sleeper = Sleeper(loop)
            return { count, round in
                let waker = sleeper.startThread(turns: count, handled) {
                    round.sender {
                        source.signal()
                        loop.wakeUp()
                    }
                }
                round.loop { countdown.run(count) }
                waker.join()
            }
        },
        Operation("wake.awake", "a signal and wake-up of a loop that is awake", count: 1_000) {
            loop in
            var isHandled = false
            let source = UVRunLoop.Source(perform: { _ in isHandled = true })
            loop.add(source, forMode: .default)
            var whileAwake = {}
            let host = UVRunLoop.Source(order: -1, perform: { _ in whileAwake() })
            loop.add(host, forMode: .default)
            return { count, round in
                whileAwake = {
                    PosixThread {
                        round.sender {
                            for _ in 0..<count {
                                source.signal()
                                loop.wakeUp()
                            }
                        }
                    }.join()
                }
                isHandled = false
                host.signal()
                loop.makePass()
                loop.makePass()
                precondition(isHandled, "The signals were lost.")
            }
        },
    ]
}

/// How much was done, for another thread to see.
final class Progress: Sendable {
    private let count = Atomic<Int>(0)

    var number: Int { count.load(ordering: .acquiring) }

    func advance() { count.add(1, ordering: .releasing) }
}

/// A loop, and the thread that sleeps in it.
struct Sleeper: Sendable {
    private let loop: UVRunLoop
    private let thread = count_thread_number()

    /// To be made on the loop's thread.
    init(_ loop: UVRunLoop) { self.loop = loop }

    /// Starts a thread that does something in each sleep of the loop, when what it did before is
    /// handled.
    func startThread(
        turns count: Int,
        _ handled: Progress,
        _ body: @escaping @Sendable () -> Void
    ) -> PosixThread {
        let first = handled.number
        return PosixThread {
            for turn in 0..<count {
                awaitSleep { handled.number == first + turn }
                body()
            }
        }
    }

    /// Returns when both the loop and the kernel say that it sleeps, after a condition came true.
    private func awaitSleep(after isTrue: () -> Bool) {
        while !(isTrue() && loop.isWaiting && count_thread_sleeps(thread)) { usleep(100) }
    }
}
