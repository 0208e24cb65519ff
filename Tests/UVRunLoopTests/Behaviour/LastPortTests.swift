import Testing
import UVRunLoop

/// A mode that has lost its last port goes on: its timers fire and limits end its runs.
///
/// A run used to spin for ever when the kernel still had to be asked for the port.
@Suite(.timeLimit(.minutes(15))) struct LastPortTests {
    /// How the mode loses its port.
    enum Loss: CaseIterable, Sendable {
        case invalidated, removed, keptByAnotherMode

        fileprivate func happen(to source: UVRunLoop.DescriptorSource, in loop: UVRunLoop) {
            switch self {
            case .invalidated: source.invalidate()
            case .removed: loop.remove(source, forMode: .default)
            case .keptByAnotherMode:
                loop.add(source, forMode: UVRunLoop.Mode("last port, other"))
                loop.remove(source, forMode: .default)
            }
        }
    }

    @Test(arguments: DriverKind.allCases, Loss.allCases)
    func aLimitEndsARunWhosePortLeftBeforeTheKernelWasAsked(kind: DriverKind, loss: Loss) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let timer = UVRunLoop.Timer(after: .seconds(3600)) { _ in log.note("far timer") }
            loop.add(timer, forMode: .default)
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in }
            loop.add(source, forMode: .default)
            loss.happen(to: source, in: loop)
            #expect(loop.run(mode: .default, for: .milliseconds(20)) == .timedOut)
            source.invalidate()
            timer.invalidate()
        }
    }

    @Test(arguments: DriverKind.allCases, Loss.allCases)
    func aTimerFiresInARunWhosePortLeftInAHandler(kind: DriverKind, loss: Loss) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                source,
                _ in
                log.note("hung up")
                loss.happen(to: source, in: loop)
            }
            loop.add(source, forMode: .default)
            let reconnect = UVRunLoop.Timer(after: .milliseconds(5)) { _ in
                log.note("reconnect")
            }
            loop.add(reconnect, forMode: .default)
            pipe.closeWriteEnd()
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["hung up", "reconnect"])
            source.invalidate()
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPortThatIsReplacedInItsHandlerIsServedOn(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let first = Pipe()
            let second = Pipe()
            first.write("1")
            second.write("2")
            let next = try UVRunLoop.DescriptorSource(second.readEnd, events: .readable) {
                source,
                _ in
                log.note("second")
                source.invalidate()
            }
            let source = try UVRunLoop.DescriptorSource(first.readEnd, events: .readable) {
                source,
                _ in
                log.note("first")
                loop.add(next, forMode: .default)
                source.invalidate()
            }
            loop.add(source, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(3600)) == .finished)
            #expect(log.entries == ["first", "second"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anInProcessPortMayBeTheLast(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let port = UVRunLoop.Port { port, _ in
                log.note("message")
                port.invalidate()
            }
            loop.add(port, forMode: .default)
            let timer = UVRunLoop.Timer(after: .milliseconds(5)) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            #expect(port.send(UVRunLoop.PortMessage()))
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["message", "timer"])
        }
    }
}
