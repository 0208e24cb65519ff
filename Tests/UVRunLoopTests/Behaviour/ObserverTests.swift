import Testing
import UVRunLoop

/// Observers: what they are told, in which order, and what a change during a notification means.
@Suite(.timeLimit(.minutes(15))) struct ObserverTests {
    // MARK: Activities

    @Test func activitiesHaveTheRawValuesOfCoreFoundation() {
        #expect(everyActivity.map(\.rawValue) == [1, 2, 4, 32, 64, 128])
        #expect(UVRunLoop.Activities.all.isSuperset(of: UVRunLoop.Activities(everyActivity)))
    }

    @Test(arguments: DriverKind.allCases, everyActivity)
    func anObserverIsToldOfTheActivitiesItAskedForOnly(
        kind: DriverKind,
        activity: UVRunLoop.Activities
    ) {
        withLoop(kind) { loop, _ in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            var told: [UVRunLoop.Activities] = []
            let observer = UVRunLoop.Observer(activities: activity) { _, activity in
                told.append(activity)
            }
            loop.add(observer, forMode: .default)
            loop.run(mode: .default, for: .milliseconds(1))
            #expect(told == [activity])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anObserverIsHandedItselfAndOneActivityAtATime(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            var told: [UVRunLoop.Activities] = []
            var handed: [UVRunLoop.Observer] = []
            let observer = UVRunLoop.Observer(activities: .all) { observer, activity in
                told.append(activity)
                handed.append(observer)
            }
            loop.add(observer, forMode: .default)
            loop.run(mode: .default, for: .milliseconds(1))
            #expect(told == everyActivity)
            #expect(handed.count == 6 && handed.allSatisfy { $0 === observer })
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSetOfActivitiesIsToldOneByOne(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            log.observe(loop, [.entry, .beforeWaiting, .exit])
            loop.run(mode: .default, for: .milliseconds(1))
            #expect(log.entries == ["entry", "beforeWaiting", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRepeatingObserverIsToldInEveryPassAndEveryRun(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { source in
                if log.entries.count < 3 { source.signal() } else { loop.stop() }
            }
            loop.add(source, forMode: .default)
            log.observe(loop, .beforeSources)
            source.signal()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries.count == 3)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries.count == 4)
        }
    }

    /// The sleep's observer goes when the captures of another one are released, which is between
    /// the poll of step 5 and the taking of what it found.
    @Test(arguments: DriverKind.allCases)
    func aPortThatIsReadyIsServedAlthoughTheSleepsObserverGoesMeanwhile(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            pipe.write("x")
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                log.note("readable")
            }
            loop.add(source, forMode: .default)
            let sleeps = UVRunLoop.Observer(activities: .beforeWaiting) { _, _ in }
            loop.add(sleeps, forMode: .default)
            var last: UVRunLoop.Observer?
            do {
                let end = Farewell { loop.remove(sleeps, forMode: .default) }
                last = UVRunLoop.Observer(activities: .entry) { _, _ in _ = end }
            }
            if let last { loop.add(last, forMode: .default) }
            let remover = UVRunLoop.Observer(activities: .beforeSources) { _, _ in
                guard let observer = last else { return }
                loop.remove(observer, forMode: .default)
                last = nil
            }
            loop.add(remover, forMode: .default)
            let result = loop.run(for: .seconds(60), returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(log.entries == ["readable"])
        }
    }

    // MARK: Order

    @Test(arguments: DriverKind.allCases)
    func observersAreToldByOrderAndTiesByInsertion(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let orders = [5, 0, Int.max, -3, 0, 5, Int.min]
            for (index, order) in orders.enumerated() {
                log.observe(loop, [.entry, .exit], order: order, as: "\(index) ")
            }
            loop.run(mode: .default, for: .zero)
            let expected = [6, 3, 1, 4, 0, 5, 2]
            #expect(
                log.entries == expected.map { "\($0) entry" } + expected.map { "\($0) exit" }
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anObserverAddedTwiceIsToldOnce(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .entry) { _, _ in log.note("entry") }
            loop.add(observer, forMode: .default)
            loop.add(observer, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["entry"])
            loop.remove(observer, forMode: .default)
            #expect(!loop.contains(observer, forMode: .default))
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["entry"])
        }
    }

    // MARK: Changes during a notification

    @Test(arguments: DriverKind.allCases, [-1, 0, 1])
    func anObserverAddedMeanwhileIsNotTold(kind: DriverKind, order: Int) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let first = UVRunLoop.Observer(activities: .entry, repeats: false) { _, _ in
                log.note("first")
                log.observe(loop, [.entry, .beforeTimers], order: order, as: "added ")
            }
            loop.add(first, forMode: .default)
            log.observe(loop, .entry, as: "last ")
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["first", "last entry", "added beforeTimers"])
            log.clear()
            loop.run(mode: .default, for: .zero)
            let notes = ["last entry", "added entry"]
            #expect(log.entries == (order < 0 ? notes.reversed() : notes) + ["added beforeTimers"])
        }
    }

    @Test(arguments: DriverKind.allCases, [false, true])
    func anObserverInvalidatedMeanwhileIsNotTold(kind: DriverKind, byAnotherThread: Bool) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let second = UVRunLoop.Observer(activities: .entry, order: 1) { _, _ in
                log.note("second")
            }
            let first = UVRunLoop.Observer(activities: .entry) { _, _ in
                log.note("first")
                if byAnotherThread {
                    startThread { second.invalidate() }.join()
                } else {
                    second.invalidate()
                }
            }
            loop.add(first, forMode: .default)
            loop.add(second, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["first"])
            #expect(!second.isValid)
            #expect(!loop.contains(second, forMode: .default))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anObserverMerelyRemovedMeanwhileIsStillTold(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let moments: UVRunLoop.Activities = [.entry, .beforeTimers]
            let second = UVRunLoop.Observer(activities: moments, order: 1) { _, activity in
                log.note(activity == .entry ? "second entry" : "second beforeTimers")
            }
            let first = UVRunLoop.Observer(activities: .entry) { _, _ in
                log.note("first")
                loop.remove(second, forMode: .default)
            }
            loop.add(first, forMode: .default)
            loop.add(second, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["first", "second entry"])
            #expect(second.isValid)
            #expect(!loop.contains(second, forMode: .default))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anObserverInvalidatedInItsOwnCallIsNotToldAgain(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .all) { observer, _ in
                log.note("told")
                observer.invalidate()
                #expect(!observer.isValid)
            }
            loop.add(observer, forMode: .default)
            for _ in 1...2 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries == ["told"])
        }
    }

    // MARK: One-shot observers

    @Test(arguments: DriverKind.allCases)
    func aOneShotObserverIsValidDuringItsFirstCallAndGoneAfterIt(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .all, repeats: false) { observer, _ in
                log.note(observer.isValid ? "valid" : "invalid")
            }
            loop.add(observer, forMode: .default)
            #expect(observer.isValid)
            for _ in 1...2 { loop.run(mode: .default, for: .milliseconds(1)) }
            #expect(log.entries == ["valid"])
            #expect(!observer.isValid)
            #expect(!loop.contains(observer, forMode: .default))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aOneShotObserverIsGoneFromEveryMode(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let modes = [UVRunLoop.Mode.default, other]
            let observer = UVRunLoop.Observer(activities: .entry, repeats: false) { _, _ in
                log.note("told")
            }
            for mode in modes {
                loop.add(UVRunLoop.Source { _ in }, forMode: mode)
                loop.add(observer, forMode: mode)
            }
            for mode in modes { loop.run(mode: mode, for: .zero) }
            #expect(log.entries == ["told"])
            #expect(!loop.contains(observer, forMode: other))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aOneShotObserverOnTheStackIsNotToldByANestedRun(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .all, repeats: false) { observer, _ in
                log.note("begins")
                loop.run(mode: .default, for: .zero)
                log.note(observer.isValid ? "ends, valid" : "ends, invalid")
            }
            loop.add(observer, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["begins", "ends, valid"])
            #expect(!observer.isValid)
        }
    }

    // MARK: Nested runs

    @Test(arguments: DriverKind.allCases)
    func anObserverOnTheStackIsNotToldByANestedRunButTheOthersAre(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let nesting = UVRunLoop.Observer(activities: [.entry, .exit]) { _, activity in
                guard activity == .entry else { return log.note("nesting exit") }
                log.note("nesting begins")
                loop.run(mode: .default, for: .zero)
                log.note("nesting ends")
            }
            loop.add(nesting, forMode: .default)
            log.observe(loop, [.entry, .exit], order: 1)
            loop.run(mode: .default, for: .zero)
            #expect(
                log.entries == [
                    "nesting begins", "entry", "exit", "nesting ends", "entry",
                    "nesting exit", "exit",
                ]
            )
        }
    }

    // MARK: Validity, loops, threads

    @Test(arguments: DriverKind.allCases)
    func anInvalidObserverIsNotAdded(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .all) { _, _ in log.note("told") }
            observer.invalidate()
            loop.add(observer, forMode: .default)
            #expect(!loop.contains(observer, forMode: .default))
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anObserverAddedByAnotherThreadIsToldOnTheLoopsOwn(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            onAnotherThread {
                let observer = UVRunLoop.Observer(
                    activities: .entry,
                    sendableHandler: { _, _ in
                        log.note(UVRunLoop.current === loop ? "own thread" : "another thread")
                    }
                )
                loop.add(observer, forMode: .default)
            }
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["own thread"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anObserverThatLeftItsLoopMayJoinAnother(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let observer = UVRunLoop.Observer(
                activities: .entry,
                sendableHandler: { _, _ in log.note("told") }
            )
            loop.add(observer, forMode: .default)
            loop.remove(observer, forMode: .default)
            onAnotherThread {
                let second = UVRunLoop.current
                second.add(observer, forMode: .default)
                second.add(UVRunLoop.Source { _ in }, forMode: .default)
                second.run(mode: .default, for: .zero)
            }
            #expect(log.entries == ["told"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func whatARemovedObserverHasCapturedMayUseTheLoopWhenItGoes(kind: DriverKind) {
        withLoop(kind) { loop, log in
            var observer: UVRunLoop.Observer? = observerThatUsesItsLoop(loop, log)
            if let observer { loop.add(observer, forMode: .default) }
            let source = UVRunLoop.Source { _ in
                if let left = observer.take() { loop.remove(left, forMode: .default) }
                log.note("removed")
            }
            loop.add(source, forMode: .default)
            source.signal()
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["removed", "gone"])
        }
    }

    @Test func anObserverInTwoLoopsTraps() async {
        await #expect(processExitsWith: .failure) { addAnObserverToTwoLoops() }
    }
}

private let other = UVRunLoop.Mode(rawValue: "other")

private let everyActivity: [UVRunLoop.Activities] = [
    .entry, .beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting, .exit,
]

/// Returns an observer that has captured something that changes the loop's modes when it goes.
private func observerThatUsesItsLoop(_ loop: UVRunLoop, _ log: EventLog) -> UVRunLoop.Observer {
    let last = Farewell {
        loop.addCommonMode(other)
        log.note("gone")
    }
    return UVRunLoop.Observer(activities: .exit, sendableHandler: { _, _ in _ = last })
}

private func addAnObserverToTwoLoops() {
    let observer = UVRunLoop.Observer(activities: .all, sendableHandler: { _, _ in })
    UVRunLoop.current.add(observer, forMode: .default)
    onAnotherThread { UVRunLoop.current.add(observer, forMode: .default) }
}
