import Glibc
import Synchronization
import Testing
import UVRunLoop

/// How many messages wait for a port, who waits for room, and what becomes of both at the end.
@Suite(.timeLimit(.minutes(15))) struct PortQueueTests {
    private func message(_ id: Int32) -> UVRunLoop.PortMessage { UVRunLoop.PortMessage(id: id) }

    // MARK: The bounded queue

    @Test func aFullPortRefusesWithinTheLimit() {
        let port = UVRunLoop.Port(capacity: 2) { _, _ in }
        #expect(port.send(message(1), limit: .zero))
        #expect(port.send(message(2), limit: .zero))
        #expect(!port.send(message(3), limit: .zero))
        let start = SuspendingClock.now
        #expect(!port.send(message(3), limit: .milliseconds(20)))
        #expect(start.duration(to: .now) >= .milliseconds(20))
        #expect(port.count == 2)
    }

    @Test func theCapacityHoldsInTheHandlerToo() {
        withLoop(.uv) { loop, _ in
            let outcome = Box<[Bool]>([])
            let port = UVRunLoop.Port(capacity: 2) { port, incoming in
                guard incoming.id == 1 else { return }
                outcome.value = (3...5).map { port.send(message($0)) }
            }
            loop.add(port, forMode: .default)
            _ = port.send(message(1))
            _ = port.send(message(2))
            loop.run(for: .zero)
            // One still waits; on the loop's own thread nobody waits for room.
            #expect(outcome.value == [true, false, false])
        }
    }

    @Test(arguments: [1, 2, 8], [true, false])
    func aNestedRunWakesSendersForTheRoomThereIs(capacity: Int, isEmpty: Bool) {
        withLoop(.uv) { loop, _ in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            let sent = Atomic<Int>(0)
            let isFull = Atomic<Bool>(false)
            let seen = Box<Int?>(nil)
            let port = UVRunLoop.Port(capacity: capacity) { _, _ in
                guard seen.value == nil else { return }
                let end = SuspendingClock.now + .seconds(60)
                while sent.load(ordering: .acquiring) <= capacity, .now < end {
                    loop.run(mode: inner, for: .milliseconds(10))
                }
                seen.value = sent.load(ordering: .acquiring)
            }
            let timer = UVRunLoop.Timer(after: .seconds(1000), handler: { _ in })
            loop.add(timer, forMode: isEmpty ? .default : inner)
            loop.add(port, forMode: .default)
            let thread = startThread { [port] in
                for id in 0...capacity {
                    if id == capacity { isFull.store(true, ordering: .releasing) }
                    _ = port.send(UVRunLoop.PortMessage(id: Int32(id)))
                    sent.add(1, ordering: .releasing)
                }
            }
            while !isFull.load(ordering: .acquiring) { usleep(1_000) }
            usleep(20_000)
            loop.run(for: .milliseconds(50))
            #expect(seen.value == capacity + 1)
            port.invalidate()
            timer.invalidate()
            thread.join()
        }
    }

    /// Calls a body while somebody waits for room in a full port of four messages.
    ///
    /// - Parameters:
    ///   - sender: Who.
    ///   - loop: The loop.
    ///   - handler: The port's handler.
    ///   - body: Given the port, and whether the message was sent.
    /// - Throws: An error if the sender has no thread.
    private func with(
        _ sender: RoomSender,
        thatWaitsIn loop: UVRunLoop,
        handler: @escaping (UVRunLoop.Port) -> Void,
        _ body: (UVRunLoop.Port, _ isSent: @escaping () -> Bool) -> Void
    ) throws {
        let isSent = SharedBox(false)
        let port = UVRunLoop.Port(capacity: 4) { port, _ in handler(port) }
        loop.add(port, forMode: .default)
        for id in Int32(0)..<4 { _ = port.send(message(id)) }
        let join = try sender.send(4..<5, to: port) {
            isSent.value = true
            loop.perform { loop.stop() }
        }
        usleep(20_000)
        body(port) { isSent.value }
        port.invalidate()
        join()
    }

    /// What is called when a port was served that has messages left, and the sender waits: another
    /// item, or the port's own handler, which has one of the messages.
    enum Next: CaseIterable {
        case itself, block, blockThatRunsTheLoop, source, observer
        case timer, timerThatRunsTheLoop, otherPort

        var runsTheLoop: Bool { self == .blockThatRunsTheLoop || self == .timerThatRunsTheLoop }
    }

    @Test(arguments: Next.allCases, RoomSender.allCases)
    func aHandlerFindsThatSendersWereWokenForTheRoomThereIs(next: Next, sender: RoomSender) throws {
        try withLoop(.uv) { loop, _ in
            let empty = UVRunLoop.Mode(rawValue: "empty")
            let whenServed = Box<(() -> Void)?>(nil)
            let wasSent = Box<Bool?>(nil)
            try with(sender, thatWaitsIn: loop) { _ in
                exchange(&whenServed.value, with: nil)?()
            } _: { port, isSent in
                let awaitSender = {
                    let end = SuspendingClock.now + .seconds(60)
                    while !isSent(), .now < end {
                        if next.runsTheLoop {
                            loop.run(mode: empty, for: .zero)
                        } else {
                            usleep(1_000)
                        }
                    }
                    wasSent.value = isSent()
                    port.invalidate()
                    loop.stop()
                }
                let timer = UVRunLoop.Timer(after: .zero) { _ in awaitSender() }
                let source = UVRunLoop.Source { _ in awaitSender() }
                let observer = UVRunLoop.Observer(activities: .beforeTimers) { _, _ in
                    awaitSender()
                }
                let other = UVRunLoop.Port { other, _ in
                    awaitSender()
                    other.invalidate()
                }
                // The first pass serves the port, which was ready first.
                switch next {
                case .itself: whenServed.value = awaitSender
                case .block, .blockThatRunsTheLoop:
                    whenServed.value = { loop.performLocally { awaitSender() } }
                case .source:
                    loop.add(source, forMode: .default)
                    whenServed.value = { source.signal() }
                case .observer: whenServed.value = { loop.add(observer, forMode: .default) }
                case .timer, .timerThatRunsTheLoop: loop.add(timer, forMode: .default)
                case .otherPort:
                    loop.add(other, forMode: .default)
                    _ = other.send(message(1))
                }
                // The sender may stop the loop before the item is called.
                while wasSent.value == nil { loop.run(for: nil) }
                other.invalidate()
                observer.invalidate()
                source.invalidate()
                timer.invalidate()
            }
            #expect(wasSent.value == true)
        }
    }

    @Test(arguments: RoomSender.allCases)
    func aBlockAfterSeveralMessagesFindsThatSendersWereWokenForTheRoomThereIs(
        sender: RoomSender
    ) throws {
        try withLoop(.uv) { loop, _ in
            let sent = SharedBox(0)
            let awaitSent = { (count: Int) in
                _ = awaitCondition { sent.value >= count }
            }
            let (served, seen) = (Box(0), Box(0))
            let port = UVRunLoop.Port(capacity: 8) { port, _ in
                served.value += 1
                // The sender was woken for the first message, and waits again.
                if served.value == 2 { awaitSent(2) }
                guard served.value == 3 else { return }
                loop.performLocally {
                    awaitSent(3)
                    seen.value = sent.value
                    port.invalidate()
                }
            }
            loop.add(port, forMode: .default)
            for id in Int32(0)..<8 { _ = port.send(message(id)) }
            let join = try sender.send(8..<11, to: port) { sent.value += 1 }
            usleep(20_000)
            loop.run(for: nil)
            #expect(seen.value == 3)
            join()
        }
    }

    @Test(arguments: [false, true], RoomSender.allCases)
    func aPortThatLeavesItsModeWithMessagesWakesSendersForTheRoomThereIs(
        isBusy: Bool,
        sender: RoomSender
    ) throws {
        try withLoop(.uv) { loop, _ in
            try with(sender, thatWaitsIn: loop) {
                loop.remove($0, forMode: .default)
            } _: { _, isSent in
                let timer = UVRunLoop.Timer(after: .seconds(60)) { _ in loop.stop() }
                loop.add(timer, forMode: .default)
                // A busy loop makes pass after pass, and never sleeps.
                let busy = UVRunLoop.Source { $0.signal() }
                loop.add(busy, forMode: .default)
                if isBusy { busy.signal() }
                loop.run(for: nil)
                #expect(isSent())
                busy.invalidate()
                timer.invalidate()
            }
        }
    }

    @Test func sendersThatWaitGoOnWhenThereIsRoomAndNothingIsLost() {
        withLoop(.uv) { loop, _ in
            let senders = 4
            let each: Int32 = 2_000
            let received = Box<[[Int32]]>(Array(repeating: [], count: senders))
            let count = Box(0)
            let port = UVRunLoop.Port(capacity: 3) { port, message in
                guard let sender = message.value(as: Int.self) else { return }
                received.value[sender].append(message.id)
                count.value += 1
                if count.value == senders * Int(each) { port.invalidate() }
            }
            loop.add(port, forMode: .default)
            let refused = Atomic<Int>(0)
            let threads = (0..<senders).map { sender in
                startThread { [port] in
                    for id in 0..<each {
                        let message = UVRunLoop.PortMessage(id: id, components: [.value(sender)])
                        if !port.send(message) { refused.add(1, ordering: .relaxed) }
                    }
                }
            }
            #expect(loop.run(for: nil) == .finished)
            for thread in threads { thread.join() }
            #expect(refused.load(ordering: .relaxed) == 0)
            for sender in 0..<senders { #expect(received.value[sender] == Array(0..<each)) }
        }
    }

    @Test func onePassThatTakesAMessageMakesRoomForASenderThatWaits() {
        withLoop(.uv) { loop, _ in
            let port = UVRunLoop.Port(capacity: 100, sendableHandler: { _, _ in })
            loop.add(port, forMode: .default)
            for id in Int32(0)..<100 { _ = port.send(message(id)) }
            let isSent = Atomic<Bool>(false)
            let sender = startThread {
                let wasSent = port.send(UVRunLoop.PortMessage(id: 100))
                isSent.store(wasSent, ordering: .releasing)
            }
            usleep(2_000)
            loop.run(for: .zero)
            sender.join()
            let wasSent = isSent.load(ordering: .acquiring)
            #expect(wasSent)
            #expect(port.count == 100)
        }
    }

    @Test func aBusyPortMakesRoomForSendersThoughOthersAreServedToo() {
        withLoop(.uv) { loop, _ in
            let port = UVRunLoop.Port(capacity: 100, sendableHandler: { _, _ in })
            let other = UVRunLoop.Port(sendableHandler: { other, _ in
                _ = other.send(UVRunLoop.PortMessage())
            })
            loop.add(port, forMode: .default)
            loop.add(other, forMode: .default)
            _ = other.send(message(0))
            let sender = startThread {
                for id in Int32(0)..<5_000 { _ = port.send(UVRunLoop.PortMessage(id: id)) }
                loop.stop()
            }
            #expect(loop.run(for: nil) == .stopped)
            sender.join()
        }
    }

    @Test func invalidationWakesSendersThatWait() {
        let port = UVRunLoop.Port(capacity: 1, sendableHandler: { _, _ in })
        _ = port.send(message(1))
        let answers = Guarded<[Bool]>([])
        let threads = (0..<3).map { _ in
            startThread {
                let isSent = port.send(message(2))
                answers.withLock { $0.append(isSent) }
            }
        }
        usleep(5_000)
        port.invalidate()
        for thread in threads { thread.join() }
        #expect(answers.withLock { $0 } == [false, false, false])
        #expect(!port.send(message(3)))
    }

    @Test func theEndOfTheLoopsThreadInvalidatesThePort() {
        let holder = Guarded<UVRunLoop.Port?>(nil)
        onAnotherThread {
            let port = UVRunLoop.Port(capacity: 1) { _, _ in }
            UVRunLoop.current.add(port, forMode: .default)
            _ = port.send(message(1))
            holder.withLock { $0 = port }
        }
        let port = holder.withLock { $0 }
        #expect(port?.isValid == false)
        #expect(port?.send(message(2)) == false)
    }

    // MARK: The end

    @Test(arguments: DriverKind.allCases)
    func aPortInvalidatedInItsHandlerIsNotCalledAgain(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let port = UVRunLoop.Port { port, message in
                log.note("\(message.id)")
                port.invalidate()
                #expect(!port.send(UVRunLoop.PortMessage(id: 9)))
            }
            loop.add(port, forMode: .default)
            _ = port.send(message(1))
            _ = port.send(message(2))
            #expect(loop.run(for: nil) == .finished)
            #expect(log.entries == ["1"])
            #expect(port.count == 0)
        }
    }

    @Test func invalidationReleasesTheHandlerAndTheMessages() {
        final class Token: Sendable {}
        withLoop(.uv) { loop, _ in
            weak var captured: Token?
            weak var sent: Token?
            let port: UVRunLoop.Port
            do {
                let token = Token()
                captured = token
                port = UVRunLoop.Port { _, _ in withExtendedLifetime(token) {} }
                let payload = Token()
                sent = payload
                _ = port.send(UVRunLoop.PortMessage(components: [.value(payload)]))
            }
            loop.add(port, forMode: .default)
            #expect(captured != nil && sent != nil)
            port.invalidate()
            #expect(captured == nil && sent == nil)
        }
    }

    @Test func aPortTakesNoDescriptor() async {
        await #expect(processExitsWith: .success) { inQuietProcess { useAThousandPorts() } }
    }
}

private func useAThousandPorts() {
    withLoop(.uv) { loop, _ in
        loop.run(for: .zero)
        let before = openDescriptorCount()
        let ports = (0..<1_000).map { _ in UVRunLoop.Port { _, _ in } }
        for port in ports {
            loop.add(port, forMode: .default)
            _ = port.send(UVRunLoop.PortMessage())
        }
        while ports.contains(where: { $0.count > 0 }) { loop.run(for: .zero) }
        require(openDescriptorCount() == before, "Ports hold descriptors.")
    }
}
