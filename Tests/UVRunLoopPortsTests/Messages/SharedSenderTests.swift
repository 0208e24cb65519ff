import Glibc
import Synchronization
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Several senders of one port, of which each also sends what the others have queued.
@Suite(.timeLimit(.minutes(15))) struct SharedSenderTests {
    @Test func aMessageThatAnotherSenderHasSentIsNoFailure() throws {
        let (connection, peer, remote) = try Place().connected()
        let first = try connection.beginSending(.message(1, sampleBytes(4 << 20), replyName: []))
        let second = try connection.beginSending(.message(2, [1], replyName: []))
        guard first != nil, let second else {
            Issue.record("The socket took 4 MiB.")
            return
        }
        let reader = startThread { #expect(peer.readFrame()?.id == 1 && peer.readFrame()?.id == 2) }
        try finishSending(second, on: connection)
        reader.join()
        try connection.expire(second)
        #expect(remote.isValid)
        // Nor when the connection ends before its sender has its turn; the others fail.
        let third = try #require(try connection.beginSending(.message(3, sampleBytes(4 << 20))))
        let fourth = try #require(try connection.beginSending(.message(4, [1])))
        remote.invalidate()
        #expect(try connection.trySending(second))
        try connection.expire(second)
        for lost in [third, fourth] {
            #expect(throws: MessagePortError.becameInvalid) { try connection.trySending(lost) }
            #expect(throws: MessagePortError.becameInvalid) { try connection.expire(lost) }
        }
    }

    /// While its loop is busy, another sender sends the task's message and fills the socket again.
    @Test func aTaskWhoseMessageAnotherSenderHasSentGoesOn() async throws {
        let (connection, peer, remote) = try Place().connected()
        let first = try connection.beginSending(.message(1, sampleBytes(4 << 20), replyName: []))
        let second = try connection.beginSending(.message(2, [1], replyName: []))
        let third = try connection.beginSending(.message(3, sampleBytes(4 << 20), replyName: []))
        guard first != nil, let second, let third else {
            Issue.record("The socket took 4 MiB.")
            return
        }
        try await UVRunLoop.withThread { loop in
            let request = TaskRequest(second, on: connection)
            let task = Task(executorPreference: loop.taskExecutor) {
                _ = try await request.outcome(.seconds(600), nil)
            }
            while request.link.loop == nil { usleep(1_000) }
            let isFull = Signal()
            loop.perform { isFull.wait() }
            let reader = startThread {
                for id in Int32(1)...2 { #expect(peer.readFrame()?.id == id) }
            }
            try finishSending(second, on: connection)
            reader.join()
            while connection.hasRoom { _ = try connection.trySending(third) }
            isFull.send()
            try await task.value
            #expect(connection.isQueued(third))
        }
        remote.invalidate()
    }

    /// Threads and tasks with short limits, and a receiver that is slower than they.
    @Test func noMessageThatArrivesIsToldToHaveTimedOut() async throws {
        let place = Place()
        let arrived = SharedBox<Set<Int32>>([])
        let server = try PortServer(place) { _, message in
            arrived.value.insert(message.id)
            usleep(200)
            return nil
        }
        let remote = SharedBox(try place.remote())
        let failures = Guarded<[Int32: MessagePortError]>([:])
        let accepted = Atomic<Int>(0)
        let record = { @Sendable (id: Int32, error: (any Error)?) in
            switch error {
            case nil: accepted.add(1, ordering: .relaxed)
            case let error as MessagePortError where error == .becameInvalid || error == .isInvalid:
                if let next = try? place.remote() { remote.value = next }
            case let error as MessagePortError: failures.withLock { $0[id] = error }
            default: break
            }
        }
        let bytes = sampleBytes(30_000)
        let threads = (0..<3).map { sender in
            startThread {
                for index in 0..<150 {
                    let id = Int32(sender * 1_000 + index)
                    do {
                        let limit = Duration.microseconds(index % 5 * 500)
                        try remote.value.sendOneWay(bytes, id, limit: limit)
                        record(id, nil)
                    } catch {
                        record(id, error)
                    }
                }
            }
        }
        for index in 0..<150 {
            let id = Int32(3_000 + index)
            do {
                let limit = Duration.microseconds(index % 5 * 500)
                try await remote.value.send(id: id, data: bytes, limit: limit)
                record(id, nil)
            } catch {
                record(id, error)
            }
        }
        for thread in threads { thread.join() }
        let last = try place.remote()
        try onAnotherThread { _ = try last.request(id: -1) }
        server.stop()
        let told = failures.withLock { $0 }
        #expect(told.values.allSatisfy { $0 == .sendTimedOut })
        #expect(arrived.value.intersection(told.keys).isEmpty)
        #expect(accepted.load(ordering: .relaxed) > 0)
    }
}
