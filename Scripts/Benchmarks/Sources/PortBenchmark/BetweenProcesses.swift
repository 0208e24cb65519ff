import BenchSupport
import Glibc
import UVRunLoop
import UVRunLoopPorts

/// Round trips between two processes: a message port beside a bare blocking socket.
enum BetweenProcesses {
    static let roundTrips = 20_000
    static let payload = [UInt8](repeating: 7, count: 64)

    /// Measures both in turns and prints the latencies, in microseconds.
    static func run(rounds: Int) {
        let path = "/tmp/port-benchmark-\(getpid()).socket"
        let name = "port-benchmark-\(getpid())"
        let servers = [
            ChildProcess(arguments: ["--serve-socket", path]),
            ChildProcess(arguments: ["--serve-port", name]),
        ]
        defer {
            servers.forEach { $0.end() }
            unlink(path)
        }
        let socket = BareSocket(connectingTo: path)
        let remote = connect(to: name)
        var (bare, ported) = (Figures(), Figures())
        for _ in 0..<rounds {
            bare.add(bareRound(socket))
            ported.add(portRound(remote))
        }
        bare.show("bare blocking socket")
        ported.show("message port")
        print("message port / bare socket: p50 \(Text.decimal(ported.middle / bare.middle, 2))")
    }

    /// The other side of the message port.
    static func servePort(named name: String) {
        do {
            let port = try UVRunLoop.MessagePort.local(named: name) { _, message in message.data }
            UVRunLoop.current.add(port, forMode: .default)
            UVRunLoop.current.run()
        } catch {
            fatalError("The port could not be made: \(error)")
        }
    }

    private static func connect(to name: String) -> UVRunLoop.MessagePort.Remote {
        while true {
            if let remote = try? UVRunLoop.MessagePort.remote(named: name) { return remote }
            usleep(1_000)
        }
    }

    private static func bareRound(_ socket: BareSocket) -> [Double] {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        return (0..<roundTrips).map { _ in
            let start = now()
            socket.roundTrip(payload, into: &buffer)
            return Double(now() - start) / 1_000
        }
    }

    private static func portRound(_ remote: UVRunLoop.MessagePort.Remote) -> [Double] {
        (0..<roundTrips).map { _ in
            let start = now()
            do {
                let reply = try remote.send(data: payload, replyMode: .connectionReply)
                guard reply == payload else { fatalError("The reply is not what was sent.") }
            } catch {
                fatalError("A round trip failed: \(error)")
            }
            return Double(now() - start) / 1_000
        }
    }

    /// The rounds of one system.
    private struct Figures {
        private var middles: [Double] = []
        private var tails: [Double] = []
        private var rates: [Double] = []

        mutating func add(_ times: [Double]) {
            middles.append(times.median)
            tails.append(Table.percentile(99, of: times))
            rates.append(1e6 * Double(times.count) / times.reduce(0, +))
        }

        var middle: Double { middles.median }

        func show(_ name: String) {
            print(
                """
                \(name): \(Int(rates.median)) round trips/s · \
                p50 \(Text.decimal(middle, 2)) µs (\(Table.spread(middles))) · \
                p99 \(Text.decimal(tails.median, 2)) µs
                """
            )
        }
    }
}
