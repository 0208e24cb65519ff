import Glibc
import Testing
import UVRunLoop

/// Custom sources: signals, order, and which pass performs what.
@Suite(.timeLimit(.minutes(15))) struct SourceTests {
    @Test(arguments: DriverKind.allCases)
    func severalSignalsBeforeAPerformAreOne(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { source in
                log.note(source.isSignalled ? "performed, still signalled" : "performed")
            }
            loop.add(source, forMode: .default)
            #expect(!source.isSignalled)
            for _ in 1...3 { source.signal() }
            #expect(source.isSignalled)
            loop.run(mode: .default, for: .zero)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["performed"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func performReceivesItsSource(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            let received = Box<UVRunLoop.Source?>(nil)
            let source = UVRunLoop.Source { received.value = $0 }
            loop.add(source, forMode: .default)
            source.signal()
            loop.run(mode: .default, for: .zero)
            #expect(received.value === source)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func signalDuringPerformIsKeptForTheNextPass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { source in
                log.note("performed")
                if log.entries.count == 1 { source.signal() }
            }
            loop.add(source, forMode: .default)
            source.signal()
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["performed"])
            #expect(source.isSignalled)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["performed", "performed"])
            #expect(!source.isSignalled)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func signalledSourcesFireInOnePassByOrderTiesByFirstSignal(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let sources = [("A", 0), ("B", 5), ("C", -5), ("D", 0), ("E", 0)].map { name, order in
                UVRunLoop.Source(order: order) { _ in log.note(name) }
            }
            for source in sources { loop.add(source, forMode: .default) }
            for index in [1, 4, 3, 2, 0, 4] { sources[index].signal() }
            log.observe(loop)
            loop.run(mode: .default, for: .zero)
            let story = [
                "entry", "beforeTimers", "beforeSources", "C", "E", "D", "A", "B", "exit",
            ]
            #expect(log.entries == story)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func onlyTheFirstSourceFiresInARunThatReturnsAfterOne(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let first = UVRunLoop.Source(order: 1) { _ in log.note("first") }
            let second = UVRunLoop.Source(order: 2) { _ in log.note("second") }
            loop.add(second, forMode: .default)
            loop.add(first, forMode: .default)
            second.signal()
            first.signal()

            let run = {
                loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            }
            #expect(run() == .handledSource)
            #expect(log.entries == ["first"])
            #expect(!first.isSignalled)
            #expect(second.isSignalled)
            #expect(run() == .handledSource)
            #expect(log.entries == ["first", "second"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func sourceInvalidatedByAnEarlierOneOfThePassDoesNotFire(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let later = UVRunLoop.Source(order: 2) { _ in log.note("later") }
            let earlier = UVRunLoop.Source(order: 1) { _ in
                log.note("earlier")
                later.invalidate()
            }
            for source in [later, earlier] {
                loop.add(source, forMode: .default)
                source.signal()
            }
            loop.run(mode: .default, for: .zero)
            loop.run(mode: .default, for: .zero)
            #expect(!later.isValid)
            #expect(log.entries == ["earlier"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func sourceRemovedByAnEarlierOneOfThePassStillFires(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let later = UVRunLoop.Source(order: 2) { _ in log.note("later") }
            let earlier = UVRunLoop.Source(order: 1) { _ in
                log.note("earlier")
                loop.remove(later, forMode: .default)
            }
            for source in [later, earlier] {
                loop.add(source, forMode: .default)
                source.signal()
            }
            loop.run(mode: .default, for: .zero)
            #expect(!loop.contains(later, forMode: .default))
            #expect(log.entries == ["earlier", "later"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func sourceSignalledByAnotherOfThePassFiresInTheNext(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let answer = UVRunLoop.Source { _ in
                log.note("answer")
                loop.stop()
            }
            let question = UVRunLoop.Source(order: -1) { _ in
                log.note("question")
                answer.signal()
            }
            loop.add(answer, forMode: .default)
            loop.add(question, forMode: .default)
            question.signal()
            log.observe(loop, .beforeTimers)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["beforeTimers", "question", "beforeTimers", "answer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func blocksQueuedByASourceRunInTheSamePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in
                log.note("source")
                loop.performLocally { log.note("block") }
            }
            loop.add(source, forMode: .default)
            source.signal()
            log.observe(loop)
            loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            let story = ["entry", "beforeTimers", "beforeSources", "source", "block", "exit"]
            #expect(log.entries == story)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func signalAloneDoesNotWake(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in log.note("performed") }
            loop.add(source, forMode: .default)
            log.observe(loop)
            elsewhere(after: .milliseconds(30), loop) {
                source.signal()
                // Time for a loop that was woken to show it.
                usleep(30_000)
                loop.stop()
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            let story = [
                "entry", "beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting", "exit",
            ]
            #expect(log.entries == story)
            #expect(source.isSignalled)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func signalAndWakeUpFromAnotherThreadPerformTheSource(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let commands = EventLog()
            let source = UVRunLoop.Source { _ in
                for command in commands.entries { log.note(command) }
            }
            loop.add(source, forMode: .default)
            log.observe(loop)
            elsewhere(after: .milliseconds(30), loop) {
                commands.note("command")
                source.signal()
                loop.wakeUp()
            }
            let result = loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(log.entries == wokenThenHandled("command"))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func signalFromABeforeWaitingObserverKeepsTheLoopFromSleeping(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in log.note("performed") }
            loop.add(source, forMode: .default)
            log.observe(loop)
            let signaller = UVRunLoop.Observer(activities: .beforeWaiting, order: 1) { _, _ in
                source.signal()
            }
            loop.add(signaller, forMode: .default)
            let result = loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(log.entries == wokenThenHandled("performed"))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func sourceAddedFromAnotherThreadWakesTheLoopToBeProcessedAtOnce(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            log.observe(loop)
            let source = UVRunLoop.Source(sendablePerform: { _ in log.note("performed") })
            source.signal()
            elsewhere(after: .milliseconds(30), loop) { loop.add(source, forMode: .default) }
            let result = loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(log.entries == wokenThenHandled("performed"))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func sourceSignalledBeforeItIsAddedFires(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in log.note("performed") }
            source.signal()
            loop.add(source, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["performed"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func sourceOutsideTheRunningModeStaysSignalled(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode(rawValue: "other")
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let source = UVRunLoop.Source { _ in log.note("performed") }
            loop.add(source, forMode: other)
            source.signal()
            #expect(loop.run(mode: .default, for: .milliseconds(3)) == .timedOut)
            #expect(source.isSignalled)
            #expect(log.entries == [])
            loop.run(mode: other, for: .zero)
            #expect(log.entries == ["performed"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func sourceInSeveralModesFiresOncePerSignal(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode(rawValue: "other")
            let source = UVRunLoop.Source { _ in log.note("performed") }
            loop.add(source, forMode: .default)
            loop.add(source, forMode: other)
            source.signal()
            loop.run(mode: other, for: .zero)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["performed"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func tiesGoByTheFirstSignalThoughTheSourcesWereAddedAfterIt(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let first = UVRunLoop.Source { _ in log.note("first") }
            let second = UVRunLoop.Source { _ in log.note("second") }
            first.signal()
            second.signal()
            first.signal()
            loop.add(second, forMode: .default)
            loop.add(first, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["first", "second"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func sourceInSeveralLoopsIsTakenByWhoeverRunsFirst(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source(sendablePerform: { _ in
                log.note(UVRunLoop.current === loop ? "here" : "there")
            })
            loop.add(source, forMode: .default)
            source.signal()
            onAnotherThread {
                UVRunLoop.current.add(source, forMode: .default)
                UVRunLoop.current.run(mode: .default, for: .zero)
            }
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["there"])
            #expect(loop.contains(source, forMode: .default))
            source.signal()
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["there", "here"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func lastSourceRemovedByAnotherThreadEndsTheRun(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in log.note("performed") }
            loop.add(source, forMode: .default)
            elsewhere(after: .milliseconds(30), loop) { loop.remove(source, forMode: .default) }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRunThatReturnsAfterASourceCanBeRepeatedUntilItIsStopped(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { source in
                log.note("performed")
                if log.entries.count == 5 { loop.stop() } else { source.signal() }
            }
            loop.add(source, forMode: .default)
            source.signal()
            while true {
                let result = loop.run(
                    mode: .default,
                    for: .seconds(60),
                    returnAfterSourceHandled: true
                )
                log.note("\(result)")
                if result == .stopped || result == .finished { break }
            }
            let story = ["performed", "handledSource", "performed", "handledSource", "performed"]
            #expect(log.entries == story + ["stopped"])
        }
    }
}

/// A pass that slept until something woke it, and one which handled a source.
private func wokenThenHandled(_ handled: String) -> [String] {
    [
        "entry", "beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting",
        "beforeTimers", "beforeSources", handled, "exit",
    ]
}
