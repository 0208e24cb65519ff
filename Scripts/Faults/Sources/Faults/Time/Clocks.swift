import Injection
import UVRunLoop

extension Corner {
    static let clocks = [
        Corner("a clock that stands still") { scale in
            for each in [2, 3, 10, 100] {
                clock_show_each(each)
                for round in 0..<scale { try performAll("\(each) readings alike, \(round)") }
            }
            clock_show_each(1)
        },
        Corner("a clock that jumps ahead") { _ in
            let loop = UVRunLoop.current
            for jump in [Duration.milliseconds(5), .seconds(3_600), .seconds(100 * 365 * 86_400)] {
                child_note_step("by \(jump)")
                let count = TimerCount(loop, interval: .milliseconds(1))
                var isDone = false
                let timer = UVRunLoop.Timer(after: .milliseconds(4)) { _ in isDone = true }
                loop.add(timer, forMode: .default)
                let other = PlainThread {
                    while !loop.isWaiting { work_sleep(50) }
                    clock_jump(Int(jump / .nanoseconds(1)))
                    loop.wakeUp()
                }
                loop.run(for: jump + .milliseconds(20))
                other.join()
                try count.check()
                if !isDone { throw Missing(what: "a timer whose date was jumped over") }
                if count.mostMissed < 2 { throw Missing(what: "dates folded into one fire") }
                try performAll("after a jump of \(jump)")
            }
        },
        Corner("a clock that steps back") { scale in
            // No kernel's does, but some machines' have. Dates come later by as much.
            let jumper = PlainThread(isPartOfOperation: false) {
                for _ in 0..<(200 * scale) {
                    clock_jump(1_000_000)
                    work_sleep(500)
                    clock_jump(-1_000_000)
                    work_sleep(500)
                }
            }
            let loop = UVRunLoop.current
            for _ in 0..<(20 * scale) {
                var fired = 0
                let timer = UVRunLoop.Timer(after: .microseconds(500), interval: .milliseconds(1)) {
                    _ in
                    fired += 1
                    if fired == 5 { loop.stop() }
                }
                loop.add(timer, forMode: .default)
                loop.run(for: .seconds(20))
                timer.invalidate()
                if fired < 5 { throw Missing(what: "a timer's fires: \(fired) of 5") }
            }
            jumper.join()
        },
        Corner("a clock of the day that jumps") { _ in
            for jump in [86_400_000_000_000, -2 * 86_400_000_000_000] {
                clock_jump_day(jump)
                try performAll("the day moved by \(jump)")
            }
        },
    ]
}
