import FoundationEssentials
import TestSupport
import Testing
import UVRunLoopFoundation
import UVRunLoopTesting

/// Dates that one thread gives to the loop of another, or to a timer in it, while the loop is on a
/// virtual clock.
@Suite(.timeLimit(.minutes(15))) struct VirtualDateTests {
    /// How long real time passes in a test at the most.
    private static let patience: TimeInterval = 120
    private static let delay: TimeInterval = 86_400

    private let clock = UVRunLoop.VirtualClock(limit: nil)

    /// Does something with the loop of another thread, which is on the clock and does not jump
    /// meanwhile.
    private func withOtherLoop(_ body: (UVRunLoop) throws -> Void) throws {
        let thread = try UVRunLoop.Thread(clock: clock)
        defer {
            thread.stop()
            thread.join()
        }
        try body(thread.runLoop)
    }

    /// Whether a time on the clock is that of a date in a day, which was made a while ago.
    private func isInADay(_ elapsed: Duration) -> Bool {
        elapsed > .seconds(Self.delay - Self.patience)
            && elapsed <= .seconds(Self.delay) + .microseconds(1)
    }

    /// Whether a date is a day ahead, or was a while ago.
    private func isInADay(_ date: Date) -> Bool {
        let interval = date.timeIntervalSinceNow
        return interval > Self.delay - Self.patience && interval < Self.delay + 1
    }

    private var inADay: Date { Date(timeIntervalSinceNow: Self.delay) }

    /// Adds a timer to a loop on its thread.
    private func addTimer(
        to loop: UVRunLoop,
        at date: Date,
        _ handler: @escaping @Sendable (UVRunLoop.Timer) -> Void = { _ in }
    ) throws -> UVRunLoop.Timer {
        try loop.performAndWait {
            let timer = UVRunLoop.Timer(fire: date, interval: 0, repeats: false, block: handler)
            loop.add(timer, forMode: .default)
            return timer
        }
    }

    @Test func anActionThatAnotherThreadSchedulesRunsAtItsDate() throws {
        try withOtherLoop { loop in
            let (elapsed, end) = (SharedBox(Duration.zero), Signal())
            loop.schedule(after: .init(inADay), tolerance: 0, options: nil) { [clock] in
                elapsed.value = clock.elapsed
                end.send()
            }
            end.wait()
            #expect(isInADay(elapsed.value))
        }
    }

    @Test func aSeriesThatAnotherThreadSchedulesBeginsAtItsDate() throws {
        try withOtherLoop { loop in
            let (dates, end) = (SharedBox<[Duration]>([]), Signal())
            let action = loop.schedule(
                after: .init(inADay),
                interval: 10,
                tolerance: 0,
                options: nil
            ) { [clock] in
                dates.value += [clock.elapsed]
                end.send()
            }
            end.wait(times: 2)
            action.cancel()
            #expect(isInADay(dates.value[0]))
            #expect(dates.value[1] - dates.value[0] == .seconds(10))
        }
    }

    @Test func aTimerFiresAtTheDateThatAnotherThreadSets() throws {
        try withOtherLoop { loop in
            let (elapsed, end) = (SharedBox(Duration.zero), Signal())
            let timer = try addTimer(to: loop, at: .distantFuture) { [clock] _ in
                elapsed.value = clock.elapsed
                end.send()
            }
            timer.fireDate = inADay
            end.wait()
            #expect(isInADay(elapsed.value))
        }
    }

    @Test func aTimerFiresAtTheDateThatAPlannedActionSets() {
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            let elapsed = SharedBox(Duration.zero)
            let timer = UVRunLoop.Timer(fire: .distantFuture, interval: 0, repeats: false) {
                [clock] _ in
                elapsed.value = clock.elapsed
            }
            loop.add(timer, forMode: .default)
            clock.after(.seconds(5)) { timer.fireDate = Date(timeIntervalSinceNow: Self.delay) }
            #expect(loop.runUntilIdle() == .finished)
            #expect(isInADay(elapsed.value - .seconds(5)))
        }
    }

    @Test func datesReadByAnotherThreadAreThoseOfTheLoop() throws {
        let hold = clock.hold()
        defer { hold.release() }
        try withOtherLoop { loop in
            let timer = try addTimer(to: loop, at: inADay)
            // A date that was set without Foundation is converted when it is read.
            timer.nextFireDate = timer.nextFireDate + .seconds(1)
            let next = UVRunLoop.CF.getNextTimerFireDate(loop, .default)
            #expect(isInADay(Date(timeIntervalSinceReferenceDate: next - 1)))
            #expect(isInADay(timer.fireDate - 1))
        }
    }

    @Test func theDateOfATimerMadeWithoutDatesIsThatOfItsLoop() throws {
        let hold = clock.hold()
        defer { hold.release() }
        try withOtherLoop { loop in
            let timer = try loop.performAndWait {
                let timer = UVRunLoop.Timer(after: .seconds(Self.delay), sendableHandler: { _ in })
                loop.add(timer, forMode: .default)
                return timer
            }
            #expect(isInADay(timer.fireDate))
        }
    }

    @Test func aPastDateThatAnotherThreadSchedulesIsNow() throws {
        try withOtherLoop { loop in
            let (elapsed, end) = (SharedBox(Duration.zero), Signal())
            clock.advance(by: .seconds(5))
            loop.schedule(after: .init(.now - 10), tolerance: 0, options: nil) { [clock] in
                elapsed.value = clock.elapsed
                end.send()
            }
            end.wait()
            #expect(elapsed.value == .seconds(5))
        }
    }
}
