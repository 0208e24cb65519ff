import TestSupport
import Testing

@testable import UVRunLoop

/// A timer's handler is lent to its call: it is released after the call, whoever invalidates the
/// timer meanwhile, and exactly once.
///
/// A build without optimisation copies it nevertheless, so a release that comes too early shows in
/// `Scripts/check-release` only.
@Suite(.timeLimit(.minutes(15))) struct LentTimerCallTests {
    static let intervals: [Duration?] = [nil, .seconds(1)]

    /// Runs a timer's handler, for its date or by `fire()` in no loop; returns what happened until
    /// its call had ended.
    private func log(
        interval: Duration?,
        isInLoop: Bool = true,
        handler: @escaping (UVRunLoop.Timer, UVRunLoop, EventLog) -> Void
    ) -> [String] {
        withLoop(.uv) { loop, log in
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            let farewell = Farewell { log.note("released") }
            let timer = UVRunLoop.Timer(after: .zero, interval: interval) { timer in
                withExtendedLifetime(farewell) {}
                handler(timer, loop, log)
                log.note("returning")
            }
            _ = consume farewell
            if isInLoop {
                loop.add(timer, forMode: .default)
                loop.run(mode: .default, for: .zero)
            } else {
                timer.fire()
            }
            log.note("ended")
            #expect(!timer.isValid)
            keeper.invalidate()
            return log.entries
        }
    }

    @Test(arguments: intervals, [true, false])
    func aHandlerThatInvalidatesItsTimerKeepsItsCaptures(interval: Duration?, isInLoop: Bool) {
        let entries = log(interval: interval, isInLoop: isInLoop) { timer, _, log in
            timer.invalidate()
            timer.invalidate()
            log.note("invalidated")
        }
        #expect(entries == ["invalidated", "returning", "released", "ended"])
    }

    @Test(arguments: intervals)
    func aHandlerWhoseTimerHasLeftTheLoopKeepsItsCaptures(interval: Duration?) {
        let entries = log(interval: interval) { timer, loop, log in
            loop.remove(timer, forMode: .default)
            timer.invalidate()
            loop.run(mode: .default, for: .zero)
            log.note("ran")
        }
        #expect(entries == ["ran", "returning", "released", "ended"])
    }

    /// The other thread posts the release, which a nested run would perform.
    @Test(arguments: intervals)
    func aTimerThatAnotherThreadInvalidatesDuringItsCallKeepsItsCaptures(interval: Duration?) {
        let entries = log(interval: interval) { timer, loop, log in
            startThread { timer.invalidate() }.join()
            loop.run(mode: .default, for: .zero)
            log.note("ran")
        }
        #expect(entries == ["ran", "returning", "released", "ended"])
    }

    @Test(arguments: intervals)
    func theOutermostOfNestedCallsReleasesTheCaptures(interval: Duration?) {
        var depth = 0
        let entries = log(interval: interval) { timer, _, log in
            depth += 1
            if depth == 1 { timer.fire() } else { timer.invalidate() }
            log.note("called")
        }
        #expect(entries == ["called", "returning", "called", "returning", "released", "ended"])
    }

    /// Two loops call it at the same time, for its date and by `fire()`; the last to end releases.
    @Test(arguments: intervals)
    func theLastOfTwoLoopsThatCallATimerReleasesItsCaptures(interval: Duration?) {
        let log = EventLog()
        let farewell = Farewell { log.note("released") }
        let others = SharedBox(0)
        let timer = UVRunLoop.Timer(
            at: .now,
            interval: interval,
            sendableHandler: { timer in
                withExtendedLifetime(farewell) {}
                others.value += 1
                guard others.value == 1 else { return timer.invalidate() }
                UVRunLoop.current.remove(timer, forMode: .default)
                startThread { timer.fire() }.join()
                log.note("returning")
            }
        )
        _ = consume farewell
        withLoop(.uv) { loop, _ in
            loop.add(timer, forMode: .default)
            loop.run(mode: .default, for: .zero)
        }
        #expect(others.value == 2 && !timer.isValid)
        #expect(log.entries == ["returning", "released"])
    }

    /// Without a lock and without a copy: many threads invalidate timers that are being called.
    @Test func capturesAreReleasedOnceUnderInvalidationsDuringCalls() {
        let released = Counter()
        let rounds = 2_000
        withLoop(.uv) { loop, _ in
            let current = SharedBox<UVRunLoop.Timer?>(nil)
            let isDone = SharedBox(false)
            let other = startThread {
                while !isDone.value { current.value?.invalidate() }
            }
            for round in 0..<rounds {
                let farewell = Farewell { released.add() }
                let timer = UVRunLoop.Timer(
                    after: .zero,
                    interval: round % 2 == 0 ? nil : .zero
                ) { [farewell] timer in
                    current.value = timer
                    withExtendedLifetime(farewell) {}
                    while timer.isValid {}
                    withExtendedLifetime(farewell) {}
                }
                loop.add(timer, forMode: .default)
                while timer.isValid { loop.run(mode: .default, for: .zero) }
            }
            current.value = nil
            isDone.value = true
            other.join()
            loop.run(mode: .default, for: .zero)
        }
        #expect(released.value == rounds)
    }
}
