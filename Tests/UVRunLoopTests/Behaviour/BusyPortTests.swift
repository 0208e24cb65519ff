import Testing
import UVRunLoop

/// Nobody can tell that a port with many messages is served several times in a row.
@Suite(.timeLimit(.minutes(15))) struct BusyPortTests {
    @Test(arguments: DriverKind.allCases, [false, true])
    func aTimerThatAHandlerSetsToNowFiresAfterTheSameMessage(kind: DriverKind, isObserved: Bool) {
        withLoop(kind) { loop, log in
            if isObserved {
                let observer = UVRunLoop.Observer(activities: .beforeSources) { _, _ in }
                loop.add(observer, forMode: .default)
            }
            let timer = UVRunLoop.Timer(after: .seconds(3600)) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            let port = UVRunLoop.Port { port, message in
                log.note("\(message.id)")
                if message.id == 3 { timer.nextFireDate = loop.now }
                if message.id == 10 { port.invalidate() }
            }
            loop.add(port, forMode: .default)
            for id in 1...10 { #expect(port.send(UVRunLoop.PortMessage(id: Int32(id)))) }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["1", "2", "3", "timer"] + (4...10).map { "\($0)" })
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerThatAnotherThreadSetsToNowInterruptsABusyPort(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(
                after: .seconds(3600),
                sendableHandler: { _ in log.note("timer") }
            )
            loop.add(timer, forMode: .default)
            let port = UVRunLoop.Port { port, message in
                log.note("\(message.id)")
                if message.id == 3 {
                    let now = loop.now
                    onAnotherThread { timer.nextFireDate = now }
                }
                if message.id == 6 { port.invalidate() }
            }
            loop.add(port, forMode: .default)
            for id in 1...6 { #expect(port.send(UVRunLoop.PortMessage(id: Int32(id)))) }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["1", "2", "3", "timer", "4", "5", "6"])
        }
    }
}
