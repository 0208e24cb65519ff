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
}
