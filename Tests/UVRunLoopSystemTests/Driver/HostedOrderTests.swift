import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

/// Sources with libuv handles among descriptor sources that the same poll reports.
@Suite(.timeLimit(.minutes(15))) struct HostedOrderTests {
    @Test func theOrderDecidesAmongAllSourcesOfAPoll() throws {
        try withLoop { loop in
            let (folder, log) = (TemporaryFolder(), EventLog())
            let pipes = [Pipe(), Pipe()]
            let note = { (name: String) in
                log.note(name)
                if log.count == 4 { loop.stop() }
            }
            let descriptors = try zip(pipes, [1, 3]).map { pipe, order in
                try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable, order: order) {
                    source,
                    _ in
                    note("descriptor \(order)")
                    source.invalidate()
                }
            }
            let datagrams = try UVRunLoop.DatagramPort(boundTo: .ipv4Loopback(port: 0), order: 4) {
                _,
                _ in note("datagram 4")
            }
            let watch = try UVRunLoop.FileWatch(folder.path, order: 2) { _, _ in note("watch 2") }
            let sources: [any UVRunLoop.PortSource] = [datagrams, watch] + descriptors
            for source in sources { loop.add(source, forMode: .default) }
            // The kernel watches all of them.
            loop.run(mode: .default, for: .zero)
            loop.perform {
                try? datagrams.send([1], to: datagrams.localAddress)
                mkdir("\(folder.path)/new", 0o700)
                for pipe in pipes { pipe.write("x") }
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["descriptor 1", "watch 2", "descriptor 3", "datagram 4"])
            for source in sources { UVRunLoop.invalidate(source) }
        }
    }

    /// It is left to the next poll, like a descriptor that has become ready at the same time.
    @Test func aPollThatMakesUpForSkippedOnesDoesNotTellOfAWatch() throws {
        try withSkippedPoll { loop, log, watch, pipe in
            pipe.write("x")
            loop.stop()
        } afterwards: { loop, log in
            for _ in 1...2 { runUntilSourceHandled(loop, in: .default) }
            #expect(log.entries == ["served", "message", "descriptor", "watch"])
        }
    }

    /// Such a poll has taken its event from libuv, which then has none to end a sleep with.
    @Test(arguments: [false, true])
    func aRunOfAnotherModeServesAWatchOfWhichSuchAPollHasNotTold(isLent: Bool) throws {
        let other = UVRunLoop.Mode("hosted order, other")
        try withSkippedPoll { loop, log, watch, _ in
            if isLent { loop.withUVLoop { _ in } }
            loop.add(watch, forMode: other)
            runUntilSourceHandled(loop, in: other)
            #expect(log.entries == ["served", "message", "watch"])
            loop.stop()
        }
    }

    /// Such a poll has taken the end of the work from libuv, which has no request afterwards.
    @Test func aRunServesTheEndOfWorkOfWhichSuchAPollHasNotTold() throws {
        try withLoop { loop in
            let (log, pipe, mayEnd) = (EventLog(), Pipe(), Signal())
            let port = UVRunLoop.Port { _, _ in
                mayEnd.send()
                // Nothing but libuv is told of the work's end. If it is late, it is not missed.
                usleep(20_000)
                loop.stop()
            }
            let descriptor = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                _,
                _ in
                _ = pipe.read()
                _ = port.send(UVRunLoop.PortMessage(), limit: .zero)
            }
            let work = try UVRunLoop.Offload {
                mayEnd.wait()
            } handler: { _, _ in
                log.note("work")
            }
            let sources: [any UVRunLoop.PortSource] = [port, descriptor, work]
            for source in sources { loop.add(source, forMode: .default) }
            pipe.write("x")
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            runUntilSourceHandled(loop, in: .default)
            #expect(log.entries == ["work"])
            for source in sources { UVRunLoop.invalidate(source) }
        }
    }

    private func runUntilSourceHandled(_ loop: UVRunLoop, in mode: UVRunLoop.Mode) {
        let result = loop.run(mode: mode, for: .seconds(60), returnAfterSourceHandled: true)
        #expect(result == .handledSource)
    }

    /// Changes a watched folder after a poll was skipped, then calls a body, and runs until it stops
    /// the run.
    private func withSkippedPoll(
        _ body: @escaping (UVRunLoop, EventLog, UVRunLoop.FileWatch, Pipe) -> Void,
        afterwards: (UVRunLoop, EventLog) -> Void = { _, _ in }
    ) throws {
        try withLoop { loop in
            let (folder, log, pipes) = (TemporaryFolder(), EventLog(), [Pipe(), Pipe()])
            let watch = try UVRunLoop.FileWatch(folder.path, order: 5) { _, _ in log.note("watch") }
            let port = UVRunLoop.Port { _, _ in
                log.note("message")
                mkdir("\(folder.path)/new", 0o700)
                body(loop, log, watch, pipes[1])
            }
            let descriptors = try zip(pipes, ["served", "descriptor"]).map { pipe, name in
                try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                    log.note(name)
                    _ = pipe.read()
                    if name == "served" {
                        _ = port.send(UVRunLoop.PortMessage(), limit: .zero)
                    }
                }
            }
            let sources: [any UVRunLoop.PortSource] = [watch, port] + descriptors
            for source in sources { loop.add(source, forMode: .default) }
            pipes[0].write("x")
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            afterwards(loop, log)
            for source in sources { UVRunLoop.invalidate(source) }
        }
    }
}
