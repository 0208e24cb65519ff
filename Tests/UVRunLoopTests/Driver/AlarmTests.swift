import Glibc
import Synchronization
import Testing

@testable import UVRunLoop

/// The two clocks under a loop, a `uv_timer` and a timerfd, and the traps in each.
@Suite(.timeLimit(.minutes(15))) struct AlarmTests {
    private let other = UVRunLoop.Mode("alarm, other")

    // A `uv_timer` counts from a time that is up to a millisecond old, and fires early in a loop
    // that is woken often: https://github.com/libuv/libuv/issues/4773
    @Test(arguments: [Duration.zero, .milliseconds(3)])
    func noTimerIsEarlyWhileAnotherThreadWakesTheLoopAllTheTime(tolerance: Duration) throws {
        try withCountedLoop { loop, _ in
            let waker = Waker(loop)
            defer { waker.end() }
            var generator = SeededGenerator(seed: 71)
            let earliest = Box<Duration>(.seconds(1))
            let left = Box(250)
            for _ in 0..<left.value {
                let delay = Int64.random(in: 0..<300_000_000, using: &generator)
                let timer = UVRunLoop.Timer(
                    after: .nanoseconds(delay),
                    tolerance: tolerance
                ) { timer in
                    let lateness = timer.nextFireDate.duration(to: loop.now)
                    earliest.value = min(earliest.value, lateness)
                    left.value -= 1
                }
                loop.add(timer, forMode: .default)
            }
            withHangGuard { #expect(loop.run(mode: .default, for: nil) == .finished) }
            #expect(left.value == 0)
            #expect(earliest.value >= .zero)
        }
    }

    @Test func noLimitIsEarlyWhileAnotherThreadWakesTheLoopAllTheTime() throws {
        try withCountedLoop { loop, _ in
            let waker = Waker(loop)
            defer { waker.end() }
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            var generator = SeededGenerator(seed: 72)
            withHangGuard {
                for _ in 0..<60 {
                    let delay = Int64.random(in: 1..<7_000_000, using: &generator)
                    let limit = loop.now.advanced(by: .nanoseconds(delay))
                    #expect(loop.run(mode: .default, until: limit) == .timedOut)
                    #expect(loop.now >= limit)
                }
            }
        }
    }

    // The timerfd is never read. When its date has passed it would end every sleep at once.
    @Test func aPassedDateDoesNotKeepASleepWithoutAnyDateAwake() throws {
        try withCountedLoop { loop, driver in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let fired = Box(false)
            let timer = UVRunLoop.Timer(after: .microseconds(700)) { _ in fired.value = true }
            loop.add(timer, forMode: .default)
            let stopper = startThread {
                usleep(60_000)
                loop.perform { loop.stop() }
            }
            withHangGuard { #expect(loop.run(mode: .default, for: nil) == .stopped) }
            stopper.join()
            #expect(fired.value)
            #expect(driver.counts.waits < 20)
        }
    }

    @Test(arguments: [Duration.milliseconds(60), .seconds(3600), nil])
    func aDateThatPassedInAnotherModeDoesNotKeepThisOneAwake(limit: Duration?) throws {
        try withCountedLoop { loop, driver in
            loop.add(UVRunLoop.Source { _ in }, forMode: other)
            let timer = UVRunLoop.Timer(
                after: .milliseconds(8),
                interval: .milliseconds(8)
            ) { _ in }
            loop.add(timer, forMode: .default)
            // The timerfd is set for the next date, which is then nobody's.
            let stopper = startThread {
                usleep(1000)
                loop.perform { loop.stop() }
            }
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            stopper.join()
            driver.counts.waits = 0
            let secondStopper = startThread {
                usleep(60_000)
                loop.perform(inModes: [UVRunLoop.Mode("alarm, other")]) { loop.stop() }
            }
            withHangGuard { _ = loop.run(mode: other, for: limit) }
            secondStopper.join()
            #expect(driver.counts.waits < 20)
            timer.invalidate()
        }
    }

    /// A distant date that is armed stays when a later one is asked for, and ends that sleep once.
    @Test func aDistantDateThatStaysArmedEndsNoRunEarly() throws {
        try withCountedLoop { loop, driver in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let stopper = startThread { loop.perform { loop.stop() } }
            withHangGuard {
                // On a busy machine the date may pass before the stop comes.
                while loop.run(mode: .default, for: .milliseconds(1_060)) != .stopped {}
            }
            stopper.join()
            driver.counts.waits = 0
            let limit = loop.now.advanced(by: .milliseconds(1_100))
            withHangGuard { #expect(loop.run(mode: .default, until: limit) == .timedOut) }
            #expect(loop.now >= limit)
            #expect(driver.counts.waits <= 3)
        }
    }

    // libuv 1.44 fires a due `uv_timer`, and then waits for something else:
    // https://github.com/libuv/libuv/issues/3686
    @Test func aDueCoarseDateEndsAWaitThatNothingElseWould() throws {
        let wakeState = WakeState()
        let driver = try UVRunLoop.makeUVDriver(wakeState)
        defer { driver.close() }
        withHangGuard {
            for offset in -60..<60 {
                let now = driver.remote.now
                let date = now + Int64(offset) * 50_000
                driver.wait(until: Moment(date: date, isCoarse: true), now: now)
                while driver.remote.now < date {
                    let now = driver.remote.now
                    driver.wait(until: Moment(date: date, isCoarse: true), now: now)
                }
            }
        }
    }

    @Test func aDueFineDateEndsAWaitThatNothingElseWould() throws {
        let wakeState = WakeState()
        let driver = try UVRunLoop.makeUVDriver(wakeState)
        defer { driver.close() }
        withHangGuard {
            for offset in -60..<60 {
                let now = driver.remote.now
                let date = now + Int64(offset) * 10_000
                driver.wait(until: Moment(date: date, isCoarse: false), now: now)
                while driver.remote.now < date {
                    let now = driver.remote.now
                    driver.wait(until: Moment(date: date, isCoarse: false), now: now)
                }
            }
        }
    }

    /// A poll without waiting consumes a `uv_timer` that has expired.
    @Test func aDateThatAPollConsumedStillEndsTheNextWait() throws {
        let wakeState = WakeState()
        let driver = try UVRunLoop.makeUVDriver(wakeState)
        defer { driver.close() }
        withHangGuard {
            for isCoarse in [true, false] {
                let now = driver.remote.now
                let moment = Moment(date: now + 5_000_000, isCoarse: isCoarse)
                // Armed, and left again at once.
                _ = wakeState.markWoken()
                driver.wait(until: moment, now: now)
                wakeState.clearWoken()
                usleep(8000)
                driver.poll()
                driver.poll()
                driver.wait(until: moment, now: driver.remote.now)
            }
        }
    }

    @Test func manyRunsWithATimerAndAFarLimitEndByTheTimer() throws {
        try withCountedLoop { loop, driver in
            withHangGuard {
                for round in 0..<150 {
                    let tolerance: Duration = round % 2 == 0 ? .zero : .milliseconds(2)
                    let delay = Duration.microseconds(round * 10)
                    let timer = UVRunLoop.Timer(
                        after: delay,
                        tolerance: tolerance
                    ) { _ in loop.stop() }
                    loop.add(timer, forMode: .default)
                    #expect(loop.run(mode: .default, for: .seconds(3600)) == .stopped)
                }
            }
            #expect(driver.counts.waits <= 4 * 150)
        }
    }

    @Test func datesAreFineAgainOnceThereAreDescriptors() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess(meetDatesAfterDescriptorsWereFreed)
        }
    }

    @Test func withATimerfdThatCannotBeSetDatesAreStillMet() async {
        await #expect(processExitsWith: .success) {
            onAnotherThread {
                refuseSettingTimers()
                let loop = UVRunLoop.current
                let timer = UVRunLoop.Timer(after: .microseconds(300)) { _ in }
                loop.add(timer, forMode: .default)
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
            }
        }
    }

    @Test func withATimerfdThatCannotBeSetALoopSleeps() async {
        await #expect(processExitsWith: .success) {
            onAnotherThread {
                refuseSettingTimers()
                let loop = UVRunLoop.current
                loop.add(UVRunLoop.Timer(after: .milliseconds(400)) { _ in }, forMode: .default)
                let began = threadProcessorTime()
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
                let time = threadProcessorTime() - began
                precondition(time < 200_000_000, "\(time) ns of the processor")
            }
        }
    }

    @Test func withoutADescriptorForTheTimerfdDatesAreStillMet() async {
        await #expect(processExitsWith: .success) { inQuietProcess(meetDatesWithoutADescriptor) }
    }
}

/// Wakes a loop every 0.2 ms.
private final class Waker: Sendable {
    private let isDone = Atomic<Bool>(false)
    private let thread = Mutex<RunningThread?>(nil)

    init(_ loop: UVRunLoop) {
        let thread = startThread {
            while !self.isDone.load(ordering: .acquiring) {
                loop.wakeUp()
                usleep(200)
            }
        }
        self.thread.withLock { $0 = thread }
    }

    func end() {
        isDone.store(true, ordering: .releasing)
        thread.withLock { $0 }?.join()
    }
}

private func meetDatesAfterDescriptorsWereFreed() {
    onAnotherThread {
        let loop = UVRunLoop.current
        let table = FullTable()
        table.leave(0)
        let runFor = { (delay: Duration) in
            loop.add(UVRunLoop.Timer(after: delay, handler: { _ in }), forMode: .default)
            precondition(loop.run(mode: .default, for: nil) == .finished)
        }
        withHangGuard {
            runFor(.microseconds(300))
            table.leave(8)
            let before = openDescriptorCount()
            runFor(.milliseconds(150))
            // A loop whose thread is kept waiting for so long finds the timer due, and does not
            // sleep.
            for _ in 0..<1_000 where openDescriptorCount() == before { runFor(.microseconds(300)) }
            // The timerfd.
            precondition(openDescriptorCount() == before + 1, "The dates stay coarse.")
        }
    }
}

private func meetDatesWithoutADescriptor() {
    onAnotherThread {
        let loop = UVRunLoop.current
        let table = FullTable()
        table.leave(0)
        let fired = Box(0)
        withHangGuard {
            for number in 1...20 {
                let delay = Duration.microseconds(number * 130)
                let timer = UVRunLoop.Timer(after: delay) { timer in
                    precondition(timer.nextFireDate <= loop.now, "A timer was early.")
                    fired.value += 1
                }
                loop.add(timer, forMode: .default)
            }
            precondition(loop.run(mode: .default, for: nil) == .finished)
        }
        precondition(fired.value == 20)
    }
}
