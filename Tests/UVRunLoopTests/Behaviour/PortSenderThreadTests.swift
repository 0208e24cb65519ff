import Glibc
import TestSupport
import Testing
import UVRunLoop

/// A thread does not wait for room that only it could make.
@Suite(.timeLimit(.minutes(15))) struct PortSenderThreadTests {
    private typealias Port = UVRunLoop.Port

    private static func message(_ id: Int32) -> UVRunLoop.PortMessage {
        UVRunLoop.PortMessage(id: id)
    }

    /// The loop wakes senders for some messages of a series only, but each message makes room.
    @Test(arguments: RoomSender.allCases)
    func aHandlerMayWaitForASenderThatWaitsForRoom(sender: RoomSender) throws {
        let count = 8
        let sent = SharedBox(0)
        try withLoop(.uv) { loop, _ in
            let port = Port(capacity: count) { port, message in
                let hasGoneOn = awaitCondition(seconds: 10) { sent.value >= Int(message.id) }
                #expect(hasGoneOn, "message \(message.id)")
                // The sender waits again, and the series of messages goes on.
                if message.id == 1 { usleep(200) }
                if message.id == count { port.invalidate() }
            }
            for id in 1...count { #expect(port.send(Self.message(Int32(id)))) }
            let join = try sender.send(0..<Int32(count), to: port) { sent.value += 1 }
            usleep(5_000)
            loop.add(port, forMode: .default)
            loop.run()
            join()
        }
    }

    /// The port's handler is bound to the sender's thread, and no other thread can serve it.
    @Test(arguments: [true, false])
    func theThreadOfTheHandlerDoesNotWait(wasInALoop: Bool) {
        withLoop(.uv) { loop, _ in
            let port = Port(capacity: 1) { _, _ in }
            if wasInALoop {
                loop.add(port, forMode: .default)
                loop.remove(port, forMode: .default)
            }
            #expect(port.send(Self.message(1)))
            #expect(!port.send(Self.message(2)))
            #expect(!port.send(Self.message(3), limit: .milliseconds(1)))
            port.invalidate()
        }
    }

    /// A task on another thread may take the messages of a port whose handler is bound to this one.
    @Test func theThreadOfTheHandlerWaitsForATaskThatTakesTheMessages() async {
        let (sequences, sequence) = AsyncStream.makeStream(of: Port.Messages.self)
        let sender = startThread {
            let port = Port(capacity: 1) { _, _ in }
            let messages = port.messages
            #expect(port.send(Self.message(1)))
            sequence.yield(messages)
            #expect(port.send(Self.message(2)))
            port.invalidate()
        }
        for await messages in sequences {
            for await message in messages {
                #expect(message.id == 1)
                break
            }
            break
        }
        sender.join()
    }

    /// Where a port is while a thread waits for room in it, before it joins that thread's loop.
    enum Start: CaseIterable { case noLoop, anotherLoop }

    @Test(arguments: Start.allCases)
    func aThreadThatWaitsStopsWhenThePortJoinsItsLoop(start: Start) throws {
        let port = Port(capacity: 1, sendableHandler: { _, _ in })
        #expect(port.send(Self.message(1)))
        let other = try UVRunLoop.Thread(name: "other")
        let mode = UVRunLoop.Mode("never run")
        if start == .anotherLoop { other.runLoop.add(port, forMode: mode) }
        let loop = SharedBox<UVRunLoop?>(nil)
        let sender = startThread {
            loop.value = .current
            #expect(!port.send(Self.message(2)))
        }
        while loop.value == nil { usleep(1_000) }
        usleep(20_000)
        if start == .anotherLoop { other.runLoop.remove(port, forMode: mode) }
        loop.value?.add(port, forMode: .default)
        sender.join()
        other.stop()
        other.join()
        port.invalidate()
    }
}
