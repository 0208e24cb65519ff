import Synchronization
import Testing
import UVRunLoop

/// `.common` names a set of modes, at first only the default one.
@Suite(.timeLimit(.minutes(15))) struct CommonModeTests {
    @Test(arguments: DriverKind.allCases)
    func theSetHoldsOnlyTheDefaultModeAtFirst(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            let source = UVRunLoop.Source { _ in }
            loop.add(source, forMode: .common)
            #expect(loop.contains(source, forMode: .common))
            #expect(loop.contains(source, forMode: .default))
            for mode: UVRunLoop.Mode in [.connectionReply, .modalPanel, .eventTracking, other] {
                #expect(!loop.contains(source, forMode: mode))
            }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theSetOfCocoaIsMadeByAddingTwoModes(kind: DriverKind) {
        withLoop(kind) { loop, log in
            for mode: UVRunLoop.Mode in [.modalPanel, .eventTracking] { loop.addCommonMode(mode) }
            let source = UVRunLoop.Source { _ in
                log.note(loop.currentMode?.rawValue ?? "no mode")
            }
            loop.add(source, forMode: .common)
            let modes: [UVRunLoop.Mode] = [.default, .modalPanel, .eventTracking]
            for mode in modes {
                source.signal()
                loop.run(mode: mode, for: .zero)
            }
            #expect(log.entries == modes.map(\.rawValue))
            #expect(!loop.contains(source, forMode: .connectionReply))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func everyKindOfItemIsAddedToEveryModeOfTheSet(kind: DriverKind) throws {
        try withLoop(kind) { loop, _ in
            let items = try Items()
            loop.addCommonMode(other)
            items.add(to: loop, .common)
            for mode: UVRunLoop.Mode in [.common, .default, other] {
                #expect(items.held(by: loop, mode) == [true, true, true, true])
            }
            #expect(items.held(by: loop, .modalPanel) == [false, false, false, false])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aModeThatJoinsLaterGetsEveryRecordedItem(kind: DriverKind) throws {
        try withLoop(kind) { loop, _ in
            let items = try Items()
            items.add(to: loop, .common)
            #expect(items.held(by: loop, other) == [false, false, false, false])
            loop.addCommonMode(other)
            #expect(items.held(by: loop, other) == [true, true, true, true])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func removalFromCommonRemovesFromEachMode(kind: DriverKind) throws {
        try withLoop(kind) { loop, _ in
            let items = try Items()
            loop.addCommonMode(other)
            items.add(to: loop, .common)
            items.remove(from: loop, .common)
            for mode: UVRunLoop.Mode in [.common, .default, other] {
                #expect(items.held(by: loop, mode) == [false, false, false, false])
            }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func removalFromCommonLeavesItemsThatWereAddedOtherwise(kind: DriverKind) throws {
        try withLoop(kind) { loop, _ in
            let items = try Items()
            items.add(to: loop, .default)
            #expect(items.held(by: loop, .common) == [false, false, false, false])
            items.remove(from: loop, .common)
            #expect(items.held(by: loop, .default) == [true, true, true, true])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func removalFromOneModeLeavesTheRecord(kind: DriverKind) throws {
        try withLoop(kind) { loop, _ in
            let items = try Items()
            items.add(to: loop, .common)
            items.remove(from: loop, .default)
            #expect(items.held(by: loop, .default) == [false, false, false, false])
            #expect(items.held(by: loop, .common) == [true, true, true, true])
            loop.addCommonMode(other)
            #expect(items.held(by: loop, other) == [true, true, true, true])
            #expect(items.held(by: loop, .default) == [false, false, false, false])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func invalidItemsAreNoLongerRecorded(kind: DriverKind) throws {
        try withLoop(kind) { loop, _ in
            let items = try Items()
            items.add(to: loop, .common)
            items.invalidate()
            loop.addCommonMode(other)
            for mode: UVRunLoop.Mode in [.common, .default, other] {
                #expect(items.held(by: loop, mode) == [false, false, false, false])
            }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func commonItemsWorkInEveryModeOfTheSet(kind: DriverKind) {
        withLoop(kind) { loop, log in
            for mode: UVRunLoop.Mode in [.modalPanel, .eventTracking] { loop.addCommonMode(mode) }
            log.observe(loop, .entry, in: .common)
            let source = UVRunLoop.Source { _ in log.note("source") }
            loop.add(source, forMode: .common)
            for mode: UVRunLoop.Mode in [.default, .modalPanel, .eventTracking] {
                source.signal()
                loop.run(mode: mode, for: .seconds(60), returnAfterSourceHandled: true)
            }
            source.signal()
            #expect(loop.run(mode: .connectionReply, for: .zero) == .finished)
            #expect(log.entries == ["entry", "source", "entry", "source", "entry", "source"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aCommonTimerFiresOnceForADate(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.addCommonMode(other)
            loop.add(
                UVRunLoop.Timer(after: .milliseconds(1)) { _ in log.note("timer") },
                forMode: .common
            )
            letTimePass(.milliseconds(2), loop)
            #expect(loop.run(mode: other, for: nil) == .finished)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func joiningTheSetTwiceAddsNothing(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.addCommonMode(other)
            log.observe(loop, .entry, in: .common)
            loop.addCommonMode(other)
            loop.addCommonMode(.default)
            for mode: UVRunLoop.Mode in [other, .default] {
                loop.add(UVRunLoop.Source { _ in }, forMode: mode)
                loop.run(mode: mode, for: .zero)
            }
            #expect(log.entries == ["entry", "entry"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSourceIsScheduledAndCancelledOncePerConcreteMode(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source(
                schedule: { _, mode in log.note("schedule in \(mode.rawValue)") },
                cancel: { _, mode in log.note("cancel in \(mode.rawValue)") },
                perform: { _ in }
            )
            let name = UVRunLoop.Mode.default.rawValue
            loop.add(source, forMode: .common)
            loop.addCommonMode(other)
            #expect(log.entries == ["schedule in \(name)", "schedule in other"])
            log.clear()
            loop.remove(source, forMode: .default)
            #expect(log.entries == ["cancel in \(name)"])
            loop.remove(source, forMode: .common)
            #expect(log.entries == ["cancel in \(name)", "cancel in other"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anotherThreadMayWidenTheSet(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in log.note("source") }
            loop.add(source, forMode: .common)
            onAnotherThread { loop.addCommonMode(other) }
            #expect(loop.contains(source, forMode: other))
            source.signal()
            loop.run(mode: other, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(log.entries == ["source"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func eachLoopHasItsOwnSet(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            loop.addCommonMode(other)
            let source = UVRunLoop.Source(sendablePerform: { _ in })
            let held = Mutex<[Bool]>([])
            onAnotherThread {
                let second = UVRunLoop.current
                second.add(source, forMode: .common)
                let answer = [
                    second.contains(source, forMode: .default),
                    second.contains(source, forMode: other),
                ]
                held.withLock { $0 = answer }
            }
            #expect(held.withLock { $0 } == [true, false])
        }
    }

    // MARK: Blocks for the common modes

    /// The set is no mode: nothing is ever in it, whatever was put into its modes.
    @Test(arguments: DriverKind.allCases)
    func aRunInTheCommonSetEndsAtOnce(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop, .entry, in: .common)
            loop.perform(inModes: [.common]) { log.note("block") }
            let timer = UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }
            loop.add(timer, forMode: .common)
            #expect(loop.run(mode: .common, for: .seconds(60)) == .finished)
            #expect(log.entries == [])
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries.sorted() == ["block", "entry", "timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aCommonBlockRunsOnceInWhicheverModeOfTheSetRunsFirst(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.addCommonMode(other)
            loop.perform(inModes: [.common]) {
                log.note(loop.currentMode == other ? "in other" : "elsewhere")
            }
            #expect(loop.run(mode: .modalPanel, for: nil) == .finished)
            #expect(log.entries == [])
            #expect(loop.run(mode: other, for: nil) == .finished)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["in other"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aCommonBlockIsMatchedWhenBlocksRun(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.perform(inModes: [.common]) { log.note("block") }
            #expect(loop.run(mode: other, for: nil) == .finished)
            #expect(log.entries == [])
            loop.addCommonMode(other)
            #expect(loop.run(mode: other, for: nil) == .finished)
            #expect(log.entries == ["block"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aLocalCommonBlockFollowsTheSameRule(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.performLocally(inModes: [.common]) { log.note("block") }
            #expect(loop.run(mode: other, for: nil) == .finished)
            loop.addCommonMode(other)
            #expect(loop.run(mode: other, for: nil) == .finished)
            #expect(log.entries == ["block"])
        }
    }

    /// Slots that became free are used again, so their order says nothing.
    @Test(arguments: DriverKind.allCases)
    func itemsJoinANewCommonModeInTheOrderInWhichTheyWereAdded(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let date = loop.now + .milliseconds(1)
            let timers = ["x", "timer 1", "timer 2", "timer 3"].map { name in
                UVRunLoop.Timer(at: date) { _ in log.note(name) }
            }
            let observers = ["x", "observer 1", "observer 2", "observer 3"].map { name in
                UVRunLoop.Observer(activities: .entry) { _, _ in log.note(name) }
            }
            for index in 0..<2 {
                loop.add(timers[index], forMode: .common)
                loop.add(observers[index], forMode: .common)
            }
            timers[0].invalidate()
            observers[0].invalidate()
            for index in 2..<4 {
                loop.add(timers[index], forMode: .common)
                loop.add(observers[index], forMode: .common)
            }
            let late = UVRunLoop.Mode("late common")
            loop.addCommonMode(late)
            loop.run(mode: late, for: .seconds(60))
            let expected = [1, 2, 3].map { "observer \($0)" } + [1, 2, 3].map { "timer \($0)" }
            #expect(log.entries == expected)
        }
    }
}

private let other = UVRunLoop.Mode(rawValue: "other")

/// One item of each kind, which never does anything.
private struct Items {
    let timer = UVRunLoop.Timer(after: .seconds(3600)) { _ in }
    let source = UVRunLoop.Source { _ in }
    let observer = UVRunLoop.Observer(activities: .all) { _, _ in }
    let port: UVRunLoop.DescriptorSource

    init() throws {
        // The handler keeps the pipe open for as long as the source may be watched.
        let pipe = Pipe()
        port = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
            _ = pipe.read()
        }
    }

    fileprivate func add(to loop: UVRunLoop, _ mode: UVRunLoop.Mode) {
        loop.add(timer, forMode: mode)
        loop.add(source, forMode: mode)
        loop.add(observer, forMode: mode)
        loop.add(port, forMode: mode)
    }

    fileprivate func remove(from loop: UVRunLoop, _ mode: UVRunLoop.Mode) {
        loop.remove(timer, forMode: mode)
        loop.remove(source, forMode: mode)
        loop.remove(observer, forMode: mode)
        loop.remove(port, forMode: mode)
    }

    fileprivate func invalidate() {
        timer.invalidate()
        source.invalidate()
        observer.invalidate()
        port.invalidate()
    }

    fileprivate func held(by loop: UVRunLoop, _ mode: UVRunLoop.Mode) -> [Bool] {
        [
            loop.contains(timer, forMode: mode), loop.contains(source, forMode: mode),
            loop.contains(observer, forMode: mode), loop.contains(port, forMode: mode),
        ]
    }
}
