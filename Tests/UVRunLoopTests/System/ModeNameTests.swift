import Testing

@testable import UVRunLoop

/// Names of modes, and the numbers that stand for them.
@Suite(.timeLimit(.minutes(15))) struct ModeNameTests {
    @Test func eachNameHasOneNumberWhicheverThreadsAskForItFirst() {
        let names = (0..<2_000).map { "mode name \($0)" }
        let found = Guarded<[[Int]]>([])
        let threads = (0..<4).map { _ in
            startThread {
                let numbers = names.map { UVRunLoop.Mode($0).number }
                found.withLock { $0.append(numbers) }
            }
        }
        for thread in threads { thread.join() }
        let all = found.withLock { $0 }
        #expect(all.count == 4 && all.allSatisfy { $0 == all[0] })
        #expect(Set(all[0]).count == names.count)
        #expect(names.map { UVRunLoop.Mode($0).rawValue } == names)
    }

    @Test func modesOfOneNameAreOneMode() {
        #expect(UVRunLoop.Mode("caf\u{e9}") == UVRunLoop.Mode("cafe\u{301}"))
        #expect(UVRunLoop.Mode("") != UVRunLoop.Mode(" "))
        #expect(UVRunLoop.Mode("kCFRunLoopDefaultMode") == .default)
    }

    @Test func theModesOfCocoaHaveItsNames() {
        #expect(UVRunLoop.Mode.default.rawValue == "kCFRunLoopDefaultMode")
        #expect(UVRunLoop.Mode.common.rawValue == "kCFRunLoopCommonModes")
        #expect(UVRunLoop.Mode.connectionReply.rawValue == "NSConnectionReplyMode")
        #expect(UVRunLoop.Mode.modalPanel.rawValue == "NSModalPanelRunLoopMode")
        #expect(UVRunLoop.Mode.eventTracking.rawValue == "NSEventTrackingRunLoopMode")
    }

    @Test(arguments: DriverKind.allCases)
    func aLoopServesAModeOfWhichManyNamesCameBefore(kind: DriverKind) {
        for number in 0..<1_000 { _ = UVRunLoop.Mode("passed over \(number)") }
        withLoop(kind) { loop, log in
            let mode = UVRunLoop.Mode("after many names")
            loop.perform(inModes: [mode, .default]) { log.note("block") }
            loop.requestPerform(inModes: [mode]) { log.note("request") }
            let timer = UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }
            loop.add(timer, forMode: mode)
            #expect(loop.run(mode: mode, for: .seconds(60)) == .finished)
            #expect(log.entries == ["block", "request", "timer"])
            #expect(loop.modes == [.default, mode])
        }
    }
}
