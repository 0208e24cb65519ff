import TestSupport
import Testing
import UVRunLoop

@testable import UVRunLoopSystem

private typealias WallTimer = UVRunLoop.WallTimer
private typealias WallDate = UVRunLoop.WallDate

/// Dates of the calendar's clock.
@Suite(.timeLimit(.minutes(15))) struct WallTimerTests {
    @Test func datesEndWithTheirNumbers() {
        let last = WallDate(sinceEpoch: Duration(attoseconds: .max))
        #expect(last + Duration(attoseconds: .max) == last)
        let first = WallDate(sinceEpoch: Duration(attoseconds: .min))
        #expect(first + Duration(attoseconds: .min) == first)
        #expect(WallDate(sinceEpoch: .seconds(1)) + .milliseconds(-1_500) < last)
    }

    @Test func anInvalidTimerKeepsItsDate() throws {
        try withLoop { _ in
            let timer = try UVRunLoop.WallTimer(at: .now) { _, _ in }
            let date = timer.date
            timer.invalidate()
            timer.date = .now + .seconds(500)
            #expect(timer.date == date)
        }
    }

    @Test func itFiresOnceAndNotBeforeItsDate() throws {
        try withLoop { loop in
            let date = WallDate.now + .milliseconds(20)
            let count = Box(0)
            let timer = try WallTimer(at: date) { timer, event in
                #expect(event == .reached && timer.isValid && WallDate.now >= date)
                count.value += 1
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(count.value == 1 && !timer.isValid)
        }
    }

    @Test(arguments: [Duration.seconds(-1_000_000_000_000), .zero, .seconds(1), .seconds(1_000)])
    func aPastDateFiresAtOnce(sinceEpoch: Duration) throws {
        try withLoop { loop in
            let timer = try WallTimer(at: WallDate(sinceEpoch: sinceEpoch)) { _, _ in }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
        }
    }

    @Test func aNewDateWithdrawsTheEventThatNobodyHasTaken() throws {
        try withLoop { loop in
            let timer = try WallTimer(at: .now)
            loop.add(timer, forMode: .default)
            let log = EventLog()
            loop.run(mode: .default, for: .milliseconds(10))
            timer.date = .now + .seconds(1_000)
            Task(executorPreference: loop.taskExecutor) {
                for await event in timer.events { log.note("\(event)") }
            }
            loop.run(mode: .default, for: .milliseconds(10))
            #expect(log.entries == [])
            timer.date = .now
            while log.count == 0 { loop.run(mode: .default, for: .milliseconds(10)) }
            #expect(log.entries == ["reached"])
            timer.invalidate()
        }
    }

    @Test func farDatesDoNotFire() throws {
        try withLoop { loop in
            let far = WallDate(sinceEpoch: .seconds(1_000_000_000_000))
            let timer = try WallTimer(at: far) { _, _ in Issue.record("It has fired.") }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .milliseconds(10)) == .timedOut)
            timer.invalidate()
        }
    }

    @Test func aHandlerThatSetsTheDateIsCalledAgain() throws {
        try withLoop { loop in
            let dates = Box<[WallDate]>([])
            let timer = try WallTimer(at: .now) { timer, _ in
                dates.value.append(timer.date)
                if dates.value.count < 5 { timer.date = timer.date + .milliseconds(2) }
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            let first = dates.value[0]
            #expect(dates.value == (0..<5).map { first + .milliseconds(2) * $0 })
        }
    }

    @Test func aDateThatIsSetElsewhereReplacesTheOld() throws {
        try withLoop { loop in
            let timer = try WallTimer(at: .now + .seconds(1_000)) { _, _ in }
            loop.add(timer, forMode: .default)
            whenAsleep(loop) { timer.date = .now }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
        }
    }

    @Test func theDateWaitsForItsMode() throws {
        try withLoop { loop in
            let log = EventLog()
            let timer = try WallTimer(at: .now) { _, _ in log.note("fired") }
            loop.add(timer, forMode: .modalPanel)
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            #expect(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
            #expect(log.entries.isEmpty)
            #expect(loop.run(mode: .modalPanel, for: .seconds(60)) == .finished)
            #expect(log.entries == ["fired"])
        }
    }

    // MARK: A clock that is set

    /// Setting the machine's clock is not for tests: these are the readings that it causes.
    @Test func readingsOfAClockThatWasSet() {
        let set = WallAlarm.outcome(isExpired: false, wasSet: true, isPending: true, isDue: false)
        #expect(set.event == .clockWasSet && set.rearms)
        let told = WallAlarm.outcome(isExpired: false, wasSet: true, isPending: false, isDue: true)
        #expect(told.event == .clockWasSet && !told.rearms)
        // It had expired, and then the clock was set back: it is not told early.
        let back = WallAlarm.outcome(isExpired: true, wasSet: false, isPending: true, isDue: false)
        #expect(back.event == .clockWasSet && back.rearms)
        let due = WallAlarm.outcome(isExpired: true, wasSet: false, isPending: true, isDue: true)
        #expect(due.event == .reached && !due.rearms)
        let none = WallAlarm.outcome(isExpired: false, wasSet: false, isPending: true, isDue: true)
        #expect(none.event == nil && !none.rearms)
    }

    // MARK: Failure and the end

    @Test func aFullTableOfDescriptorsThrows() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                withLoop { _ in
                    let table = FullTable()
                    do throws(UVRunLoop.SystemError) {
                        _ = try WallTimer(at: .now) { _, _ in }
                        preconditionFailure("No descriptors are left.")
                    } catch {
                        precondition(error.code == .noDescriptorsLeft)
                        precondition(error.attempt == .schedule)
                    }
                    table.clear()
                }
            }
        }
    }

    @Test func timersLeaveNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                onAnotherThread { _ = UVRunLoop.current }
                let before = openDescriptorCount()
                onAnotherThread {
                    for number in 0..<90 {
                        let date = WallDate.now + .seconds(number)
                        guard let timer = try? WallTimer(at: date, handler: { _, _ in }) else {
                            preconditionFailure("No timer can be made.")
                        }
                        if number % 3 > 0 { UVRunLoop.current.add(timer, forMode: .default) }
                        if number % 3 > 1 { timer.invalidate() }
                    }
                }
                precondition(openDescriptorCount() == before)
            }
        }
    }

    // MARK: Tasks

    @Test func aTaskSleepsUntilADate() async throws {
        try await UVRunLoop.withThread { loop in
            let date = WallDate.now + .milliseconds(10)
            try await loop.sleep(until: date)
            #expect(WallDate.now >= date)
        }
    }

    @Test func aSleepEndsWithTheThreadOfItsLoop() async throws {
        let thread = try startLoopThread()
        let sleep = Task { try await thread.runLoop.sleep(until: .now + .seconds(3_600)) }
        // Long enough for the timer to be in the loop, most of the time.
        try await Task.sleep(for: .milliseconds(20))
        thread.stop(afterQueuedWork: false)
        await #expect(throws: UVRunLoop.PerformError.threadEnded) { try await sleep.value }
    }

    @Test func aCancelledSleepEnds() async throws {
        try await UVRunLoop.withThread { loop in
            let task = Task { try await loop.sleep(until: WallDate.now + .seconds(1_000)) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            return
        }
    }

    @Test func aTaskTakesTheEvents() async throws {
        try await UVRunLoop.withThread { loop in
            let timer = try WallTimer(at: .now)
            loop.add(timer, forMode: .common)
            var iterator = timer.events.makeAsyncIterator()
            for _ in 0..<3 {
                #expect(await iterator.next() == .reached)
                timer.date = .now + .milliseconds(1)
            }
            timer.invalidate()
        }
    }
}
