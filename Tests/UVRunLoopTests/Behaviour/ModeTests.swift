import Testing
import UVRunLoop

/// Modes filter what a run may deliver; what they filter out is kept.
@Suite(.timeLimit(.minutes(15))) struct ModeTests {
    // MARK: Names

    @Test func modesCompareByValue() {
        let name = ["tracking", "drag"].joined(separator: ".")
        let mode = UVRunLoop.Mode(rawValue: name)
        #expect(mode == UVRunLoop.Mode(rawValue: "tracking.drag"))
        #expect(mode != UVRunLoop.Mode(rawValue: "tracking.drop"))
        #expect(mode.rawValue == "tracking.drag")
        #expect(Set([mode, UVRunLoop.Mode(rawValue: "tracking.drag")]).count == 1)
    }

    @Test func predefinedModesAreDistinctAndKnownByName() {
        #expect(Set(predefinedModes + [.common]).count == 5)
        for mode in predefinedModes + [.common] {
            #expect(UVRunLoop.Mode(rawValue: mode.rawValue) == mode)
        }
    }

    @Test func predefinedModesHaveTheirCocoaNames() {
        #expect(UVRunLoop.Mode.default.rawValue == "kCFRunLoopDefaultMode")
        #expect(UVRunLoop.Mode.common.rawValue == "kCFRunLoopCommonModes")
        #expect(UVRunLoop.Mode.connectionReply.rawValue == "NSConnectionReplyMode")
        #expect(UVRunLoop.Mode.modalPanel.rawValue == "NSModalPanelRunLoopMode")
        #expect(UVRunLoop.Mode.eventTracking.rawValue == "NSEventTrackingRunLoopMode")
    }

    @Test(arguments: DriverKind.allCases, predefinedModes)
    func everyPredefinedModeRunsItsOwnItemsOnly(kind: DriverKind, mode: UVRunLoop.Mode) {
        withLoop(kind) { loop, log in
            for (index, each) in predefinedModes.enumerated() {
                let source = UVRunLoop.Source { _ in
                    log.note("source \(index) in its mode: \(loop.currentMode == each)")
                }
                loop.add(source, forMode: each)
                source.signal()
                loop.perform(inModes: [each]) { log.note("block \(index)") }
            }
            let result = loop.run(mode: mode, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            let index = predefinedModes.firstIndex(of: mode) ?? -1
            #expect(log.entries == ["block \(index)", "source \(index) in its mode: true"])
        }
    }

    @Test(arguments: DriverKind.allCases, ["", "a custom name", "模式", "com.example.\u{0}x"])
    func anyNameMakesAMode(kind: DriverKind, name: String) {
        withLoop(kind) { loop, log in
            let mode = UVRunLoop.Mode(rawValue: name)
            loop.add(UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }, forMode: mode)
            #expect(loop.modes.contains(mode))
            #expect(loop.run(mode: UVRunLoop.Mode(rawValue: name), for: nil) == .finished)
            #expect(log.entries == ["timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRunThatNamesNoModeRunsTheDefaultOne(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            log.observe(loop, .entry)
            #expect(loop.run(for: .milliseconds(1)) == .timedOut)
            #expect(loop.run(until: loop.now) == .timedOut)
            #expect(log.entries == ["entry", "entry"])
        }
    }

    // MARK: Work outside the running mode

    @Test(arguments: DriverKind.allCases)
    func aSignalIsKeptUntilItsModeRuns(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in log.note("source") }
            loop.add(source, forMode: other)
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            source.signal()
            #expect(loop.run(mode: .default, for: .milliseconds(1)) == .timedOut)
            #expect(log.entries == [])
            #expect(source.isSignalled)
            let result = loop.run(mode: other, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(log.entries == ["source"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDateStaysDueUntilItsModeRuns(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(
                UVRunLoop.Timer(after: .milliseconds(1)) { _ in log.note("timer") },
                forMode: other
            )
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            #expect(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
            #expect(log.entries == [])
            #expect(loop.run(mode: other, for: nil) == .finished)
            #expect(log.entries == ["timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func dataStaysInThePortUntilItsModeRuns(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let port = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                log.note(pipe.read() ?? "nothing")
            }
            loop.add(port, forMode: other)
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            pipe.write("data")
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
            #expect(log.entries == [])
            loop.run(mode: other, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(log.entries == ["data"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func observersAreNotifiedInTheirModeOnly(kind: DriverKind) {
        withLoop(kind) { loop, log in
            for mode in [UVRunLoop.Mode.default, other] {
                loop.add(UVRunLoop.Source { _ in }, forMode: mode)
            }
            log.observe(loop, in: .default, as: "default ")
            log.observe(loop, in: other, as: "other ")
            loop.run(mode: other, for: .zero)
            #expect(
                log.entries == [
                    "other entry", "other beforeTimers", "other beforeSources", "other exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anItemInTwoModesIsServedInBoth(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in
                log.note(loop.currentMode == other ? "in other" : "in default")
            }
            loop.add(source, forMode: .default)
            loop.add(source, forMode: other)
            for mode in [UVRunLoop.Mode.default, other] {
                source.signal()
                loop.run(mode: mode, for: .seconds(60), returnAfterSourceHandled: true)
            }
            #expect(log.entries == ["in default", "in other"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func removalFromOneModeLeavesTheOthers(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            loop.add(timer, forMode: other)
            loop.remove(timer, forMode: .default)
            #expect(!loop.contains(timer, forMode: .default))
            #expect(loop.contains(timer, forMode: other))
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == [])
            #expect(loop.run(mode: other, for: nil) == .finished)
            #expect(log.entries == ["timer"])
        }
    }

    // MARK: A loop's modes

    @Test(arguments: DriverKind.allCases)
    func modesHoldsUsedModesAndNeverTheCommonOne(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            #expect(!loop.modes.contains(other))
            loop.add(UVRunLoop.Source { _ in }, forMode: other)
            loop.add(UVRunLoop.Source { _ in }, forMode: .common)
            loop.perform(inModes: [.common]) {}
            #expect(loop.modes.contains(other))
            #expect(loop.modes.contains(.default))
            #expect(!loop.modes.contains(.common))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theCurrentModeIsTheInnermostRunsOwn(kind: DriverKind) {
        withLoop(kind) { loop, log in
            #expect(loop.currentMode == nil)
            #expect(loop.nestingLevel == 0)
            loop.perform {
                #expect(loop.currentMode == .default)
                #expect(loop.nestingLevel == 1)
                loop.perform(inModes: [other]) {
                    log.note("nested block")
                    #expect(loop.currentMode == other)
                    #expect(loop.nestingLevel == 2)
                }
                loop.run(mode: other, for: nil)
                #expect(loop.currentMode == .default)
                #expect(loop.nestingLevel == 1)
            }
            loop.run(mode: .default, for: nil)
            #expect(log.entries == ["nested block"])
            #expect(loop.currentMode == nil)
            #expect(loop.nestingLevel == 0)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theNextFireDateIsTheModesOwn(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            #expect(loop.nextFireDate(forMode: .default) == nil)
            let start = loop.now
            let dates = [start + .seconds(30), start + .seconds(20), start + .seconds(10)]
            loop.add(UVRunLoop.Timer(at: dates[0]) { _ in }, forMode: .default)
            loop.add(UVRunLoop.Timer(at: dates[1]) { _ in }, forMode: .default)
            loop.add(UVRunLoop.Timer(at: dates[2]) { _ in }, forMode: other)
            #expect(loop.nextFireDate(forMode: .default) == dates[1])
            #expect(loop.nextFireDate(forMode: other) == dates[2])
            #expect(loop.nextFireDate(forMode: .modalPanel) == nil)
        }
    }
}

private let other = UVRunLoop.Mode(rawValue: "other")

private let predefinedModes: [UVRunLoop.Mode] = [
    .default, .connectionReply, .modalPanel, .eventTracking,
]
