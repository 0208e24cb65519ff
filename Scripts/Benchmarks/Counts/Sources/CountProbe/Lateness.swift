import MallocCount
import UVRunLoop

extension Operation {
    /// The work of a loop between the kernel's return and the handler.
    static let lateness = [
        Operation(
            "late.timer",
            "from the end of a sleep to the handler of the timer that ended it",
            count: 100,
            needsTime: true
        ) { loop in
            loop.keep()
            let countdown = Countdown(loop)
            return { count, round in
                let timer = UVRunLoop.Timer(
                    after: .milliseconds(2),
                    interval: .milliseconds(2),
                    handler: { _ in
                        count_late_end()
                        countdown.countOne()
                        round.expectLate()
                    }
                )
                loop.add(timer, forMode: .default)
                round.expectLate()
                countdown.run(count)
                timer.invalidate()
            }
        },
        Operation(
            "late.descriptor",
            "from the kernel's report of a descriptor to its handler",
            count: 500
        ) { loop in
            let pipe = Pipe()
            let countdown = Countdown(loop)
            var goOn = {}
            let source = pipe.source { _ in
                count_late_end()
                pipe.readByte()
                countdown.countOne()
                if countdown.rest > 0 { goOn() }
            }
            loop.add(source, forMode: .default)
            return { count, round in
                goOn = {
                    pipe.writeByte()
                    round.expectLate()
                }
                goOn()
                countdown.run(count)
            }
        },
        Operation(
            "late.block",
            "from the end of a sleep to the block of another thread that ended it",
            count: 200
        ) { loop in
            loop.keep()
            let done = Progress()
            let sleeper = Sleeper(loop)
            let countdown = Unshared(Countdown(loop))
            return { count, round in
                let sender = sleeper.startThread(turns: count, done) {
                    loop.perform {
                        count_late_end()
                        countdown.value.countOne()
                        round.expectLate()
                        done.advance()
                    }
                }
                round.expectLate()
                countdown.value.run(count)
                sender.join()
            }
        },
    ]
}

extension Round {
    /// Counts the instructions from the kernel's next report, unless the round is not counted.
    fileprivate func expectLate() {
        if size != .warmUp { count_late_expect() }
    }
}

/// A value that blocks of another thread carry to the thread it belongs to.
///
/// Unchecked, because only the loop's thread uses it.
private struct Unshared<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
