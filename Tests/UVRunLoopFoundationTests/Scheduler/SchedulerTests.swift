import FoundationEssentials
import TestSupport
import Testing
import UVRunLoopFoundation

/// The scheduler types, used through a protocol like Combine's.
@Suite(.timeLimit(.minutes(15))) struct SchedulerTests {
    typealias Time = UVRunLoop.SchedulerTimeType

    @Test func timeIsMeasuredInSeconds() {
        let time = Time(Date(timeIntervalSinceReferenceDate: 100))
        let later = time.advanced(by: .milliseconds(1500))
        #expect(later.date.timeIntervalSinceReferenceDate == 101.5)
        #expect(time.distance(to: later) == 1.5)
        #expect(later.distance(to: time).timeInterval == -1.5)
        #expect(time < later && time != later)
        #expect(Set([time, later, time]).count == 2)
    }

    @Test func stridesAreMadeFromEveryUnit() {
        #expect(Time.Stride.seconds(2).magnitude == 2)
        #expect(Time.Stride.seconds(2.5).magnitude == 2.5)
        #expect(Time.Stride.milliseconds(2).magnitude == 0.002)
        #expect(Time.Stride.microseconds(2).magnitude == 0.000_002)
        #expect(Time.Stride.nanoseconds(2).magnitude == 0.000_000_002)
        #expect((2 as Time.Stride) == 2.0)
        #expect(Time.Stride(exactly: UInt64.max) == nil)
        #expect(Time.Stride(exactly: 7)?.magnitude == 7)
    }

    @Test func stridesAreNumbers() {
        var stride = Time.Stride(6)
        #expect(stride + 1 == 7 && stride - 1 == 5 && stride * 2 == 12 && -stride == -6)
        stride += 1
        stride -= 2
        stride *= 3
        #expect(stride == 15)
        #expect(Time.Stride.nanoseconds(-2) > .microseconds(-10))
        #expect(-stride < .zero && stride != 0)
    }

    @Test func bothAreCodedByTheirOnlyField() throws {
        let encoder = JSONEncoder()
        let time = Time(Date(timeIntervalSinceReferenceDate: 1024.75))
        let timeData = try encoder.encode(time)
        #expect(String(decoding: timeData, as: UTF8.self) == #"{"date":1024.75}"#)
        #expect(try JSONDecoder().decode(Time.self, from: timeData) == time)

        let strideData = try encoder.encode(Time.Stride(10.5))
        #expect(String(decoding: strideData, as: UTF8.self) == #"{"magnitude":10.5}"#)
        #expect(try JSONDecoder().decode(Time.Stride.self, from: strideData) == 10.5)
    }

    @Test func aLoopIsAScheduler() {
        withLoop { loop in
            let log = EventLog()
            onAnotherThread { schedule(on: loop, log) }
            loop.run()
            #expect(log.entries == ["soon", "later"])
            #expect(loop.minimumTolerance == 0)
        }
    }

    @Test func aSeriesGoesOnUntilItIsCancelled() {
        withLoop { loop in
            let log = EventLog()
            let ending = Ending()
            ending.series = loop.schedule(
                after: loop.now.advanced(by: .milliseconds(1)),
                interval: .milliseconds(1),
                tolerance: 0,
                options: nil
            ) {
                log.note("again")
                if log.entries.count == 3 { ending.series?.cancel() }
            }
            loop.run()
            #expect(log.entries == ["again", "again", "again"])
        }
    }

    @Test func cancellingLetsGoOfTheAction() {
        withLoop { loop in
            weak var captured: Ending?
            let series = {
                let ending = Ending()
                captured = ending
                return loop.schedule(after: loop.now, interval: 1, tolerance: 0, options: nil) {
                    _ = ending.series
                }
            }()
            #expect(captured != nil)
            series.cancel()
            #expect(captured == nil)
        }
    }

    /// It is not `Sendable`.
    @Test func anActionIsReleasedOnTheLoopsThread() throws {
        let log = EventLog()
        let thread = try UVRunLoop.Thread()
        let series = {
            let farewell = Farewell {
                log.note(UVRunLoop.Thread.current === thread ? "there" : "elsewhere")
            }
            let date = thread.runLoop.now.advanced(by: 3600)
            return thread.runLoop.schedule(after: date, interval: 1, tolerance: 0, options: nil) {
                withExtendedLifetime(farewell) {}
            }
        }()
        series.cancel()
        thread.stop()
        thread.join()
        #expect(log.entries == ["there"])
    }

    @Test func nowIsTheDateAndTheLoopsMomentIsStillThere() {
        withLoop { loop in
            let now = loop.now
            #expect(abs(now.date.timeIntervalSinceNow) < 60)
            let moment: UVRunLoop.Instant = loop.now
            loop.run(until: loop.now + .milliseconds(1))
            #expect(moment <= loop.now)
            onAnotherThread { #expect(abs(loop.now.date.timeIntervalSinceNow) < 60) }
        }
    }
}

private final class Ending {
    var series: UVRunLoop.ScheduledAction?
}

// MARK: The protocols of a Combine-like library

private protocol IntervalConvertible {
    static func seconds(_ value: Int) -> Self
    static func seconds(_ value: Double) -> Self
    static func milliseconds(_ value: Int) -> Self
    static func microseconds(_ value: Int) -> Self
    static func nanoseconds(_ value: Int) -> Self
}

private protocol Scheduler {
    associatedtype SchedulerTimeType: Strideable
    where SchedulerTimeType.Stride: IntervalConvertible
    associatedtype SchedulerOptions

    var now: SchedulerTimeType { get }
    var minimumTolerance: SchedulerTimeType.Stride { get }
    func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void)
    func schedule(
        after date: SchedulerTimeType,
        tolerance: SchedulerTimeType.Stride,
        options: SchedulerOptions?,
        _ action: @escaping () -> Void
    )
}

extension UVRunLoop.SchedulerTimeType.Stride: IntervalConvertible {}
extension UVRunLoop: Scheduler {}

private func schedule(on scheduler: some Scheduler, _ log: EventLog) {
    scheduler.schedule(
        after: scheduler.now.advanced(by: .milliseconds(2)),
        tolerance: scheduler.minimumTolerance,
        options: nil
    ) {
        log.note("later")
    }
    scheduler.schedule(options: nil) { log.note("soon") }
}
