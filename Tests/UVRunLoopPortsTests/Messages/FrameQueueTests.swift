import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Frames that wait for a peer who reads slowly, thousands of them.
@Suite(.timeLimit(.minutes(15))) struct FrameQueueTests {
    @Test func framesAreSentInOrderButForThoseThatAreWithdrawn() throws {
        let place = Place()
        let listener = try place.rawListener()
        let peer = try place.rawSocket()
        let socket = try listener.accept().socket
        var queue = FrameQueue()
        var queued: [(id: FrameQueue.ID, number: Int32)] = []
        var expected: [Int32] = []
        for number: Int32 in 0..<3_000 {
            let frame = Frame.message(number, sampleBytes(500))
            if let id = try queue.send(frame, to: socket.descriptor) { queued.append((id, number)) }
            expected.append(number)
        }
        #expect(queued.count > 2_000)
        // The first may be sent in part.
        for index in stride(from: 1, to: queued.count, by: 3) {
            let (id, number) = queued[index]
            let (first, second) = (queue.withdraw(id), queue.withdraw(id))
            #expect(first && !second && !queue.contains(id))
            expected.removeAll { $0 == number }
        }
        let withdrawn = Set(stride(from: 1, to: queued.count, by: 3).map { queued[$0].id })
        for number in expected {
            #expect(peer.readFrame()?.id == number)
            _ = try queue.flush(to: socket.descriptor)
            guard number % 50 == 0 else { continue }
            let isRight = queued.allSatisfy { id, _ in
                queue.contains(id) == (id >= queue.next && !withdrawn.contains(id))
            }
            #expect(isRight)
        }
        #expect(queue.isEmpty && queue.keptByteCount == 0)
    }

    /// Whichever sender sends the frames of the others.
    @Test func hundredsOfTasksThatWaitForRoomAreAllAnswered() async throws {
        let place = Place()
        let server = try PortServer(place) { _, message in message.data }
        let remote = try place.remote()
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let data = sampleBytes(200) + [UInt8(number % 7)]
                    let reply = try await remote.request(data: data, limit: .seconds(600))
                    return Int(reply?.last ?? 99)
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == (0..<300).reduce(0) { $0 + $1 % 7 })
        server.stop()
    }
}
