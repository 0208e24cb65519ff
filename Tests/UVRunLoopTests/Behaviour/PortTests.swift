import Testing
import UVRunLoop

/// In-process ports: messages from any thread to a handler on the loop's.
@Suite(.timeLimit(.minutes(15))) struct PortTests {
    private let other = UVRunLoop.Mode("ports, other")

    private func message(_ id: Int32) -> UVRunLoop.PortMessage { UVRunLoop.PortMessage(id: id) }

    @Test func everyKindOfPortIsUsedThroughTheProtocol() throws {
        try withLoop(.manual) { loop, _ in
            let pipe = Pipe()
            let ports: [any UVRunLoop.PortSource] = [
                UVRunLoop.Port(order: 1) { _, _ in },
                try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable, order: 2) { _, _ in
                },
            ]
            #expect(ports.map(\.order) == [1, 2])
            for port in ports {
                loop.add(port, forMode: .default)
                #expect(port.isValid)
                port.invalidate()
                #expect(!port.isValid && !loop.contains(port, forMode: .default))
            }
        }
    }

    // MARK: Delivery

    @Test(arguments: DriverKind.allCases)
    func aMessageReachesTheHandlerWithAllItsParts(kind: DriverKind) throws {
        withLoop(kind) { loop, log in
            let reply = UVRunLoop.Port { _, _ in }
            let port = UVRunLoop.Port { _, message in
                #expect(message.id == 7)
                #expect(message.bytes == [1, 2, 3])
                #expect(message.value(as: String.self) == "text")
                #expect(message.value(as: Int.self) == nil)
                #expect(message.replyPort === reply)
                log.note("message")
            }
            loop.add(port, forMode: .default)
            let isSent = port.send(
                UVRunLoop.PortMessage(
                    id: 7,
                    components: [.bytes([1, 2, 3]), .value("text")],
                    replyPort: reply
                )
            )
            #expect(isSent)
            #expect(log.entries.isEmpty)
            #expect(
                loop.run(for: .seconds(60), returnAfterSourceHandled: true) == .handledSource
            )
            #expect(log.entries == ["message"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aMessageFromAnotherThreadWakesTheLoop(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let port = UVRunLoop.Port { port, message in
                log.note("message \(message.id)")
                port.invalidate()
            }
            loop.add(port, forMode: .default)
            log.observe(loop, [.beforeWaiting, .afterWaiting])
            elsewhere(after: .milliseconds(2), loop) { _ = port.send(message(1)) }
            #expect(loop.run(for: nil) == .finished)
            #expect(log.entries == ["beforeWaiting", "afterWaiting", "message 1"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func messagesOfOneSenderArriveInOrder(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            // On virtual time the loop and the sender take turns, slowly.
            let count: Int32 = kind == .uv ? 5_000 : 50
            let received = Box<[Int32]>([])
            let port = UVRunLoop.Port { port, message in
                received.value.append(message.id)
                if received.value.count == count { port.invalidate() }
            }
            loop.add(port, forMode: .default)
            let sender = startThread {
                for id in 0..<count { _ = port.send(message(id)) }
            }
            #expect(loop.run(for: nil) == .finished)
            sender.join()
            #expect(received.value == Array(0..<count))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func messagesSentBeforeThePortIsAddedAreKept(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let port = UVRunLoop.Port { _, message in log.note("\(message.id)") }
            _ = port.send(message(1))
            _ = port.send(message(2))
            loop.add(port, forMode: .default)
            loop.run(for: .seconds(60), returnAfterSourceHandled: true)
            loop.run(for: .seconds(60), returnAfterSourceHandled: true)
            #expect(log.entries == ["1", "2"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func messagesWaitWhileAnotherModeRuns(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let port = UVRunLoop.Port { _, message in log.note("\(message.id)") }
            let keeper = UVRunLoop.Port { _, _ in }
            loop.add(port, forMode: .default)
            loop.add(keeper, forMode: other)
            _ = port.send(message(1))
            #expect(loop.run(mode: other, for: .milliseconds(2)) == .timedOut)
            #expect(log.entries.isEmpty)
            loop.run(for: .zero)
            #expect(log.entries == ["1"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPortThatJoinsAModeBringsTheMessagesThatWait(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let port = UVRunLoop.Port { _, message in log.note("\(message.id)") }
            loop.add(port, forMode: .default)
            _ = port.send(message(1))
            loop.add(port, forMode: other)
            loop.remove(port, forMode: .default)
            loop.run(mode: other, for: .zero)
            #expect(log.entries == ["1"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func messagesSurviveTheMoveToAnotherLoop(kind: DriverKind) {
        withLoop(kind) { first, log in
            let port = UVRunLoop.Port(sendableHandler: { _, message in log.note("\(message.id)") })
            first.add(port, forMode: .default)
            _ = port.send(message(1))
            _ = port.send(message(2))
            first.run(for: .zero)
            first.remove(port, forMode: .default)
            withLoop(kind) { second, _ in
                second.add(port, forMode: .default)
                second.run(for: .zero)
            }
            #expect(log.entries == ["1", "2"])
        }
    }

    // MARK: Passes

    @Test(arguments: DriverKind.allCases)
    func aPassDeliversOneMessage(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let port = UVRunLoop.Port { port, message in
                log.note("\(message.id)")
                if message.id == 3 { port.invalidate() }
            }
            loop.add(port, forMode: .default)
            log.observe(loop, [.beforeTimers])
            for id in Int32(1)...3 { _ = port.send(message(id)) }
            loop.run(for: nil)
            #expect(
                log.entries == ["beforeTimers", "1", "beforeTimers", "2", "beforeTimers", "3"]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPollDeliversOneMessage(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let port = UVRunLoop.Port { _, message in log.note("\(message.id)") }
            loop.add(port, forMode: .default)
            for id in Int32(1)...3 { _ = port.send(message(id)) }
            #expect(loop.run(for: .zero) == .timedOut)
            #expect(log.entries == ["1"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func portsTakeTurns(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let first = UVRunLoop.Port { _, _ in log.note("a") }
            let second = UVRunLoop.Port { port, _ in
                log.note("b")
                if port.count == 0 { loop.stop() }
            }
            loop.add(first, forMode: .default)
            loop.add(second, forMode: .default)
            for _ in 1...3 { _ = first.send(message(0)) }
            for _ in 1...3 { _ = second.send(message(0)) }
            loop.run(for: nil)
            #expect(log.entries == ["a", "b", "a", "b", "a", "b"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aBusyPortStarvesNeitherDescriptorsNorTimersNorBlocks(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            pipe.write("x")
            let busy = UVRunLoop.Port { port, _ in _ = port.send(message(0)) }
            let descriptor = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                source,
                _ in
                log.note("descriptor")
                source.invalidate()
                loop.performLocally {
                    log.note("block")
                    let timer = UVRunLoop.Timer(after: .zero) { _ in
                        log.note("timer")
                        loop.stop()
                    }
                    loop.add(timer, forMode: .default)
                }
            }
            loop.add(busy, forMode: .default)
            loop.add(descriptor, forMode: .default)
            _ = busy.send(message(0))
            #expect(loop.run(for: nil) == .stopped)
            #expect(log.entries == ["descriptor", "block", "timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopInTheHandlerLeavesTheOtherMessages(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let port = UVRunLoop.Port { _, message in
                log.note("\(message.id)")
                loop.stop()
            }
            loop.add(port, forMode: .default)
            _ = port.send(message(1))
            _ = port.send(message(2))
            #expect(loop.run(for: nil) == .stopped)
            #expect(log.entries == ["1"])
            #expect(port.count == 1)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func whatAHandlerQueuesRunsBeforeTheNextMessage(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in
                log.note("source")
                if log.entries.count == 6 { loop.stop() }
            }
            loop.add(source, forMode: .default)
            let port = UVRunLoop.Port { port, message in
                log.note("\(message.id)")
                loop.performLocally { log.note("block") }
                source.signal()
            }
            loop.add(port, forMode: .default)
            _ = port.send(message(1))
            _ = port.send(message(2))
            loop.run(for: nil)
            #expect(log.entries == ["1", "block", "source", "2", "block", "source"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aNestedRunInTheHandlerServesTheOtherPortsOnly(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let inner = UVRunLoop.Port { _, message in
                log.note("inner \(message.id)")
                loop.stop()
            }
            let outer = UVRunLoop.Port { port, message in
                log.note("outer \(message.id)")
                guard message.id == 1 else { return loop.stop() }
                loop.run(for: nil)
                log.note("unwound")
            }
            loop.add(inner, forMode: .default)
            loop.add(outer, forMode: .default)
            _ = outer.send(message(1))
            _ = outer.send(message(2))
            _ = inner.send(message(1))
            loop.run(for: nil)
            #expect(log.entries == ["outer 1", "inner 1", "unwound", "outer 2"])
        }
    }

    // MARK: Emptiness

    @Test(arguments: DriverKind.allCases)
    func aBarePortKeepsALoopAlive(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            let port = UVRunLoop.Port { _, _ in }
            loop.add(port, forMode: .default)
            #expect(loop.contains(port, forMode: .default))
            #expect(loop.run(for: .milliseconds(1)) == .timedOut)
            loop.remove(port, forMode: .default)
            #expect(loop.run(for: .milliseconds(1)) == .finished)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func invalidatingTheLastPortFromAnotherThreadEndsTheRun(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            let port = UVRunLoop.Port { _, _ in }
            loop.add(port, forMode: .default)
            elsewhere(after: .milliseconds(2), loop) { port.invalidate() }
            #expect(loop.run(for: nil) == .finished)
            #expect(!port.isValid)
        }
    }
}
