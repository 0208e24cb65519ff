import Testing
import UVRunLoop

/// Ready ports are served first come, first served, whatever comes between.
@Suite(.timeLimit(.minutes(15))) struct PortTurnTests {
    private let other = UVRunLoop.Mode("port turns, other")

    private func always(
        _ pipe: Pipe,
        _ body: @escaping () -> Void
    ) throws -> UVRunLoop.DescriptorSource {
        pipe.write("x")
        return try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in body() }
    }

    @Test(arguments: DriverKind.allCases)
    func aPortKeepsItsTurnThoughAnotherModeIsRunBetweenPasses(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipes = (Pipe(), Pipe(), Pipe())
            loop.add(try always(pipes.0) { log.note("a") }, forMode: .default)
            loop.add(try always(pipes.1) { log.note("b") }, forMode: .default)
            loop.add(try always(pipes.2) {}, forMode: other)
            for _ in 1...6 {
                loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
                loop.run(mode: other, for: .seconds(60), returnAfterSourceHandled: true)
            }
            #expect(log.entries == ["a", "b", "a", "b", "a", "b"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPortInTwoModesIsServedThoughBothHaveOthersThatAreAlwaysReady(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipes = (Pipe(), Pipe(), Pipe())
            let shared = try always(pipes.1) { log.note("shared") }
            loop.add(try always(pipes.0) { log.note("a") }, forMode: .default)
            loop.add(shared, forMode: .default)
            loop.add(shared, forMode: other)
            loop.add(try always(pipes.2) { log.note("b") }, forMode: other)
            for _ in 1...10 {
                loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
                loop.run(mode: other, for: .seconds(60), returnAfterSourceHandled: true)
            }
            for name in ["a", "b", "shared"] {
                #expect(log.entries.filter { $0 == name }.count >= 4)
            }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRunNestedInAPortsHandlerDoesNotStarveTheOtherPort(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipes = (Pipe(), Pipe(), Pipe())
            let nesting = try always(pipes.0) {
                log.note("nesting")
                loop.run(mode: self.other, for: .zero)
                if log.entries.count >= 30 { loop.stop() }
            }
            loop.add(nesting, forMode: .default)
            loop.add(try always(pipes.1) { log.note("plain") }, forMode: .default)
            loop.add(try always(pipes.2) {}, forMode: other)
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries.filter { $0 == "plain" }.count >= 10)
        }
    }

    // MARK: Handing over

    @Test func aSourceThatItsHandlerHandsToAnotherLoopIsServedThere() throws {
        let pipe = Pipe()
        pipe.write("x")
        let log = EventLog()
        try withLoop(.uv) { first, _ in
            let second = LoopOnAThread()
            let source = try UVRunLoop.DescriptorSource(
                pipe.readEnd,
                events: .readable,
                sendableHandler: { source, _ in
                    guard UVRunLoop.current === first else {
                        log.note("second")
                        source.invalidate()
                        return second.stop()
                    }
                    log.note("first")
                    first.remove(source, forMode: .default)
                    second.loop.add(source, forMode: .default)
                }
            )
            first.add(source, forMode: .default)
            first.run(mode: .default, for: .seconds(60))
            second.join()
        }
        #expect(log.entries == ["first", "second"])
    }
}
