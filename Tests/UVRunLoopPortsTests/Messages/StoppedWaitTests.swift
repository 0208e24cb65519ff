import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// A thread that is told to stop while it waits for a reply.
@Suite(.timeLimit(.minutes(15))) struct StoppedWaitTests {
    /// Longer than the suite may take.
    private static let long = Duration.seconds(600)

    @Test func stoppingAtOnceEndsAWaitForAReply() throws {
        let (place, notes) = (Place(), Notes())
        let listener = try place.rawListener()
        let thread = try UVRunLoop.Thread()
        thread.runLoop.perform {
            do {
                _ = try place.remote().request(receiveLimit: Self.long)
            } catch {
                notes.add("\(error)")
            }
        }
        let peer = try listener.accept()
        #expect(peer.readFrame() != nil)
        thread.stop(afterQueuedWork: false)
        thread.join()
        #expect(notes.entries == ["threadStopped"])
    }

    @Test func stoppingAtOnceEndsASendThatWaitsForRoom() throws {
        let (place, notes) = (Place(), Notes())
        let listener = try place.rawListener()
        let thread = try UVRunLoop.Thread()
        thread.runLoop.perform {
            do {
                _ = try place.remote().request(sampleBytes(16 << 20), sendLimit: Self.long)
            } catch {
                notes.add("\(error)")
            }
        }
        let peer = try listener.accept()
        // It has begun.
        #expect(peer.read(24).count == 24)
        thread.stop(afterQueuedWork: false)
        thread.join()
        #expect(notes.entries == ["threadStopped"])
    }

    /// The first stop lets the send go on, which runs no loop any more; the second one ends it.
    @Test func aSecondStopEndsAWaitThatTheFirstOneLeftAlone() throws {
        let (place, notes) = (Place(), Notes())
        let listener = try place.rawListener()
        let thread = try UVRunLoop.Thread()
        thread.runLoop.perform {
            do {
                _ = try place.remote().request(receiveLimit: Self.long)
            } catch {
                notes.add("\(error)")
            }
        }
        let peer = try listener.accept()
        #expect(peer.readFrame() != nil)
        thread.stop()
        usleep(30_000)
        #expect(notes.entries == [])
        thread.stop(afterQueuedWork: false)
        thread.join()
        #expect(notes.entries == ["threadStopped"])
    }

    @Test func stoppingAfterQueuedWorkLetsAWaitComeToItsReply() throws {
        let (place, notes) = (Place(), Notes())
        let listener = try place.rawListener()
        let thread = try UVRunLoop.Thread()
        thread.runLoop.perform {
            do {
                let reply = try place.remote().request(receiveLimit: Self.long)
                notes.add("\(reply ?? [])")
            } catch {
                notes.add("\(error)")
            }
        }
        let peer = try listener.accept()
        let request = try #require(peer.readFrame())
        thread.stop()
        peer.write(Frame.reply(request.number, [1]).head())
        thread.join()
        #expect(notes.entries == ["[1]"])
    }

    @Test func aThreadThatWasStoppedAtOnceSendsNoRequest() throws {
        let (place, notes) = (Place(), Notes())
        let server = try PortServer(place) { _, message in
            notes.add("served \(message.id)")
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
                notes.add("\(error)")
            }
        }
        isAtWork.wait()
        thread.stop(afterQueuedWork: false)
        isStopped.send()
        thread.join()
        try onOwnThread { _ = try place.remote().request(id: 3) }
        server.stop()
        #expect(notes.entries.sorted() == ["served 1", "served 3", "threadStopped"])
    }

    /// The inner wait belongs to another peer than the outer one.
    @Test func stoppingAtOnceEndsNestedWaits() throws {
        let (place, notes, isWaiting) = (Place(), Notes(), Signal())
        let (outer, inner) = (try place.rawListener("outer"), try place.rawListener("inner"))
        let thread = try UVRunLoop.Thread()
        thread.runLoop.perform {
            let timer = UVRunLoop.Timer(after: .zero) { _ in
                isWaiting.send()
                do {
                    _ = try place.remote("inner").request(receiveLimit: Self.long)
                } catch {
                    notes.add("inner \(error)")
                }
            }
            UVRunLoop.current.add(timer, forMode: .reply)
            do {
                _ = try place.remote("outer").request(receiveLimit: Self.long)
            } catch {
                notes.add("outer \(error)")
            }
        }
        isWaiting.wait()
        thread.stop(afterQueuedWork: false)
        thread.join()
        #expect(notes.entries == ["inner threadStopped", "outer threadStopped"])
        withExtendedLifetime((outer, inner)) {}
    }
}
