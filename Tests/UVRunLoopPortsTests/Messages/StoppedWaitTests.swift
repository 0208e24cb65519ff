import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// A thread that is told to stop while it waits for a reply.
@Suite(.timeLimit(.minutes(15))) struct StoppedWaitTests {
    /// Longer than any of these tests takes.
    private static let long = Duration.seconds(600)

    @Test func stoppingAtOnceEndsAWaitForAReply() throws {
        let (place, log) = (Place(), EventLog())
        let listener = try place.rawListener()
        let thread = try UVRunLoop.Thread()
        thread.runLoop.perform {
            do {
                _ = try place.remote().request(receiveLimit: Self.long)
            } catch {
                log.note("\(error)")
            }
        }
        let peer = try listener.accept()
        #expect(peer.readFrame() != nil)
        thread.stop(afterQueuedWork: false)
        thread.join()
        #expect(log.entries == ["the thread was told to stop"])
    }

    @Test func stoppingAtOnceEndsASendThatWaitsForRoom() throws {
        let (place, log) = (Place(), EventLog())
        let listener = try place.rawListener()
        let thread = try UVRunLoop.Thread()
        thread.runLoop.perform {
            do {
                _ = try place.remote().request(sampleBytes(16 << 20), sendLimit: Self.long)
            } catch {
                log.note("\(error)")
            }
        }
        let peer = try listener.accept()
        // The wait has begun.
        #expect(peer.read(24).count == 24)
        thread.stop(afterQueuedWork: false)
        thread.join()
        #expect(log.entries == ["the thread was told to stop"])
    }

    /// The first stop lets the send go on without running the loop; the second one ends it.
    @Test func aSecondStopEndsAWaitThatTheFirstOneLeftAlone() throws {
        let (place, log) = (Place(), EventLog())
        let listener = try place.rawListener()
        let thread = try UVRunLoop.Thread()
        thread.runLoop.perform {
            do {
                _ = try place.remote().request(receiveLimit: Self.long)
            } catch {
                log.note("\(error)")
            }
        }
        let peer = try listener.accept()
        #expect(peer.readFrame() != nil)
        thread.stop()
        usleep(30_000)
        #expect(log.entries == [])
        thread.stop(afterQueuedWork: false)
        thread.join()
        #expect(log.entries == ["the thread was told to stop"])
    }

    @Test func stoppingAfterQueuedWorkLetsAWaitComeToItsReply() throws {
        let (place, log) = (Place(), EventLog())
        let listener = try place.rawListener()
        let thread = try UVRunLoop.Thread()
        thread.runLoop.perform {
            do {
                let reply = try place.remote().request(receiveLimit: Self.long)
                log.note("\(reply ?? [])")
            } catch {
                log.note("\(error)")
            }
        }
        let peer = try listener.accept()
        let request = try #require(peer.readFrame())
        thread.stop()
        peer.write(Frame.reply(request.number, [1]).head())
        thread.join()
        #expect(log.entries == ["[1]"])
    }

    @Test func aThreadThatWasStoppedAtOnceSendsNoRequest() throws {
        let (place, log) = (Place(), EventLog())
        let server = try PortServer(place) { _, message in
            log.note("served \(message.id)")
            return nil
        }
        let (isAtWork, isStopped) = (Signal(), Signal())
        let thread = try UVRunLoop.Thread()
        thread.runLoop.perform {
            isAtWork.send()
            isStopped.wait()
            do {
                let remote = try place.remote()
                try remote.sendOneWay([], 1)
                _ = try remote.request(id: 2)
            } catch {
                log.note("\(error)")
            }
        }
        isAtWork.wait()
        thread.stop(afterQueuedWork: false)
        isStopped.send()
        thread.join()
        try onAnotherThread { _ = try place.remote().request(id: 3) }
        server.stop()
        #expect(log.entries.sorted() == ["served 1", "served 3", "the thread was told to stop"])
    }

    /// The inner wait is for another peer than the outer one.
    @Test func stoppingAtOnceEndsNestedWaits() throws {
        let (place, log, isWaiting) = (Place(), EventLog(), Signal())
        let (outer, inner) = (try place.rawListener("outer"), try place.rawListener("inner"))
        let thread = try UVRunLoop.Thread()
        thread.runLoop.perform {
            let timer = UVRunLoop.Timer(after: .zero) { _ in
                isWaiting.send()
                do {
                    _ = try place.remote("inner").request(receiveLimit: Self.long)
                } catch {
                    log.note("inner \(error)")
                }
            }
            UVRunLoop.current.add(timer, forMode: .reply)
            do {
                _ = try place.remote("outer").request(receiveLimit: Self.long)
            } catch {
                log.note("outer \(error)")
            }
        }
        isWaiting.wait()
        thread.stop(afterQueuedWork: false)
        thread.join()
        #expect(
            log.entries == [
                "inner the thread was told to stop", "outer the thread was told to stop",
            ]
        )
        withExtendedLifetime((outer, inner)) {}
    }
}
