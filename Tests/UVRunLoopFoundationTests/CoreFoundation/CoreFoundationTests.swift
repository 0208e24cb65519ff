import FoundationEssentials
import TestSupport
import Testing
import UVRunLoopFoundation

/// Core Foundation's functions.
@Suite(.timeLimit(.minutes(15))) struct CoreFoundationTests {
    typealias CF = UVRunLoop.CF

    @Test func aRunTellsWhyItEnded() {
        withLoop { loop in
            #expect(CF.getCurrent() === loop)
            #expect(CF.runInMode(.default, 60, false) == .finished)
            let source = UVRunLoop.Source { _ in }
            CF.addSource(loop, source, .default)
            #expect(CF.runInMode(.default, 0, false) == .timedOut)
            #expect(CF.runInMode(.default, 0.001, false) == .timedOut)
            CF.sourceSignal(source)
            #expect(CF.runInMode(.default, 60, true) == .handledSource)
            CF.performBlock(loop, .default) { CF.stop(CF.getCurrent()) }
            #expect(CF.runInMode(.default, 1e10, true) == .stopped)
            CF.performBlock(loop, [.default, .common]) { CF.stop(CF.getCurrent()) }
            CF.run()
        }
    }

    @Test func everyKindOfItemIsAddedFoundAndRemoved() {
        withLoop { loop in
            let source = UVRunLoop.Source { _ in }
            let port = UVRunLoop.Port()
            let observer = CF.observerCreateWithHandler(.all, true, 0) { _, _ in }
            let timer = CF.timerCreateWithHandler(CF.absoluteTimeGetCurrent() + 60, 0) { _ in }
            CF.addSource(loop, source, .default)
            CF.addSource(loop, port, .default)
            CF.addObserver(loop, observer, .default)
            CF.addTimer(loop, timer, .default)
            #expect(CF.containsSource(loop, source, .default))
            #expect(CF.containsSource(loop, port, .default))
            #expect(CF.containsObserver(loop, observer, .default))
            #expect(CF.containsTimer(loop, timer, .default))
            CF.removeSource(loop, source, .default)
            CF.removeSource(loop, port, .default)
            CF.removeObserver(loop, observer, .default)
            CF.removeTimer(loop, timer, .default)
            #expect(!CF.containsSource(loop, source, .default))
            #expect(!CF.containsSource(loop, port, .default))
            #expect(!CF.containsObserver(loop, observer, .default))
            #expect(!CF.containsTimer(loop, timer, .default))
            CF.sourceInvalidate(source)
            CF.observerInvalidate(observer)
            CF.timerInvalidate(timer)
            #expect(!CF.sourceIsValid(source))
            #expect(!CF.observerIsValid(observer))
            #expect(!CF.timerIsValid(timer))
        }
    }

    /// There is no separate object: the functions take the loop itself.
    @Test func callsOfBothKindsMixOnOneLoop() {
        withLoop { loop in
            let log = EventLog()
            let timer = UVRunLoop.Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) {
                timer in
                log.note("timer")
                timer.invalidate()
            }
            #expect(CF.containsTimer(loop, timer, .default))
            let source = UVRunLoop.Source { _ in log.note("source") }
            CF.addSource(loop, source, .default)
            #expect(loop.contains(source, forMode: .default))
            CF.sourceSignal(source)
            #expect(loop.run(mode: .default, before: .distantFuture))
            loop.perform { CF.stop(CF.getCurrent()) }
            #expect(CF.runInMode(.default, 60, false) == .stopped)
            let last = UVRunLoop.Timer(timeInterval: 0.001, repeats: false) { _ in loop.stop() }
            loop.add(last, forMode: .default)
            CF.run()
            #expect(Set(log.entries) == ["source", "timer"])
        }
    }

    @Test func modesAreNamed() {
        withLoop { loop in
            let mode = UVRunLoop.Mode("tracking")
            CF.addCommonMode(loop, mode)
            #expect(Set(CF.copyAllModes(loop)) == [.default, mode])
            #expect(CF.copyCurrentMode(loop) == nil)
            let log = EventLog()
            CF.performBlock(loop, mode) {
                log.note(CF.copyCurrentMode(.current)?.rawValue ?? "none")
            }
            CF.runInMode(mode, 60, false)
            #expect(log.entries == ["tracking"])
        }
    }

    @Test func timersHaveSecondsForDates() {
        withLoop { loop in
            #expect(CF.getNextTimerFireDate(loop, .default) == 0)
            let date = CF.absoluteTimeGetCurrent() + 600
            let timer = CF.timerCreateWithHandler(date, 2.5) { _ in }
            CF.addTimer(loop, timer, .default)
            #expect(CF.timerDoesRepeat(timer))
            #expect(CF.timerGetInterval(timer) == 2.5)
            #expect(CF.timerGetNextFireDate(timer) == date)
            #expect(abs(CF.getNextTimerFireDate(loop, .default) - date) < 1)
            CF.timerSetNextFireDate(timer, date + 600)
            #expect(CF.timerGetNextFireDate(timer) == date + 600)
            CF.timerSetTolerance(timer, 0.25)
            #expect(CF.timerGetTolerance(timer) == 0.25)
            CF.timerInvalidate(timer)
            #expect(CF.timerGetNextFireDate(timer) == 0)
            #expect(!CF.timerDoesRepeat(CF.timerCreateWithHandler(date, -1) { _ in }))
        }
    }

    @Test func aSleepIsSeenAndEndedFromAnotherThread() {
        withLoop { loop in
            let log = EventLog()
            let source = UVRunLoop.Source(sendablePerform: { _ in log.note("performed") })
            CF.addSource(loop, source, .default)
            #expect(!CF.isWaiting(loop))
            whenAsleep(loop) {
                CF.sourceSignal(source)
                CF.wakeUp(loop)
            }
            #expect(CF.runInMode(.default, 60, true) == .handledSource)
            whenAsleep(loop) { CF.stop(loop) }
            #expect(CF.runInMode(.default, 60, true) == .stopped)
            #expect(log.entries == ["performed"])
        }
    }

    @Test func theMainLoopIsTheOneOfTheMainThread() {
        #expect(CF.getMain() === UVRunLoop.main)
    }
}
