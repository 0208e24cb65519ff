import Testing
import UVRunLoop

/// Ports whose messages are values of one type, and the short ways to add and to signal.
@Suite(.timeLimit(.minutes(15))) struct TypedPortTests {
    private struct Order: Hashable, Sendable {
        let item: String
        let count: Int
    }

    @Test(arguments: DriverKind.allCases)
    func messagesArriveAsValuesAndInOrder(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let port = UVRunLoop.TypedPort<Order> { port, order in
                log.note("\(order.item) \(order.count)")
                if order.count == 3 { port.invalidate() }
            }
            loop.add(port)
            #expect(loop.contains(port, forMode: .default))
            for count in 1...3 { #expect(port.send(Order(item: "tea", count: count))) }
            #expect(port.count == 3)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["tea 1", "tea 2", "tea 3"])
            #expect(!port.isValid && !port.send(Order(item: "late", count: 4)))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anotherThreadSends(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let port = UVRunLoop.TypedPort<Int>(sendableHandler: { port, number in
                log.note("\(number)")
                if number == 99 { port.invalidate() }
            })
            loop.add(port, forMode: .common)
            whenAsleep(loop) { for number in 0..<100 { _ = port.send(number) } }
            loop.run()
            #expect(log.entries == (0..<100).map(String.init))
        }
    }

    @Test func anOptionalIsAMessageToo() {
        withLoop { loop in
            let log = EventLog()
            let port = UVRunLoop.TypedPort<Int?> { _, number in
                log.note(number.map(String.init) ?? "none")
            }
            loop.add(port)
            _ = port.send(nil)
            _ = port.send(7)
            for _ in 0..<2 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries == ["none", "7"])
            loop.remove(port, forMode: .default)
            #expect(!loop.contains(port, forMode: .default) && port.isValid)
        }
    }

    @Test func aFullPortRefusesAMessage() {
        let port = UVRunLoop.TypedPort<Int>(capacity: 2, order: 5)
        #expect(port.send(1) && port.send(2))
        #expect(!port.send(3, limit: .zero))
        #expect((port.capacity, port.order, port.count) == (2, 5, 2))
    }

    @Test func copiesAreTheSamePort() {
        let (one, other) = (UVRunLoop.TypedPort<Int>(), UVRunLoop.TypedPort<Int>())
        let copy = one
        #expect(copy == one && one != other)
        #expect(Set([one, copy, other]).count == 2)
    }

    @Test(arguments: DriverKind.allCases)
    func itemsAreAddedToTheDefaultModeUnlessAModeIsGiven(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }
            let source = UVRunLoop.Source { _ in log.note("source") }
            let observer = UVRunLoop.Observer(activities: .entry) { _, _ in log.note("entry") }
            let port = UVRunLoop.Port { _, _ in log.note("port") }
            loop.add(timer)
            loop.add(source)
            loop.add(observer)
            loop.add(port)
            let isInDefault = [
                loop.contains(timer, forMode: .default), loop.contains(source, forMode: .default),
                loop.contains(observer, forMode: .default), loop.contains(port, forMode: .default),
            ]
            #expect(!isInDefault.contains(false))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func signallingMayWakeTheLoop(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { source in
                log.note("performed")
                source.invalidate()
            }
            loop.add(source)
            whenAsleep(loop) { source.signal(waking: loop) }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["performed"])
        }
    }
}
