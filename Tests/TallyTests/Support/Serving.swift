@_exported import TestSupport
import UVRunLoop
import UVRunLoopPorts

@testable import Tally

/// A service on virtual time, and the means to connect clients to it.
///
/// Its socket is of the Unix domain, where bytes arrive before the call that sends them returns:
/// otherwise the clock could jump meanwhile.
struct Stage: Sendable {
    let loop: UVRunLoop
    let service: Service
    let serving: Task<Void, any Error>
    private let folder: TemporaryFolder

    fileprivate init(_ loop: UVRunLoop, _ limits: Service.Limits) throws {
        let folder = TemporaryFolder()
        let service = try Service(on: loop, at: .unix(folder.path + "/socket"), limits)
        self.loop = loop
        self.folder = folder
        self.service = service
        serving = Task(executorPreference: loop.taskExecutor) { try await service.run() }
    }

    var now: UVRunLoop.Instant { loop.clock.now }

    func connect() async throws -> TestClient {
        let port = try UVRunLoop.SocketPort(connectingTo: .unix(folder.path + "/socket"))
        loop.add(port, forMode: .common)
        try await port.connected()
        return TestClient(port)
    }

    /// Connects a client, and waits until the service serves it.
    func connectAccepted() async throws -> TestClient {
        let client = try await connect()
        guard try await client.ask("total nothing") == "0" else {
            throw TestSupport.Trouble("no answer")
        }
        return client
    }
}

/// A client that sends what a test wants, complete lines or not.
final class TestClient {
    let port: UVRunLoop.SocketPort
    private var received: [UInt8] = []

    fileprivate init(_ port: UVRunLoop.SocketPort) { self.port = port }

    func send(_ text: String) { port.send(text.utf8) }

    /// The next line of the answers; `nil` at the end of the connection.
    func line() async throws -> String? {
        while true {
            if let end = received.firstIndex(of: 10) {
                defer { received.removeSubrange(...end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            guard let bytes = try await port.bytes.first(where: { _ in true }) else { return nil }
            received += bytes
        }
    }

    func ask(_ request: String) async throws -> String? {
        send(request + "\n")
        return try await line()
    }

    /// The lines up to the end of the connection, which this client then ends, too.
    func rest() async throws -> [String] {
        var lines: [String] = []
        while let line = try await line() { lines.append(line) }
        port.endSending()
        return lines
    }
}

/// Runs a service and a body that uses it, on virtual time and on the calling thread alone.
///
/// The body's clients may be left connected: the service ends after it.
func withService(
    _ limits: Service.Limits = Service.Limits(),
    _ body: @escaping @Sendable (Stage) async throws -> Void
) throws {
    try withLoop(.manual) { loop, _ in
        let stage = try Stage(loop, limits)
        let end = SharedBox<Result<Void, any Error>?>(nil)
        let keeper = UVRunLoop.Source { _ in }
        loop.add(keeper, forMode: .default)
        Task(executorPreference: loop.taskExecutor) {
            do {
                try await body(stage)
                await stage.service.end()
                end.value = .success(try await stage.serving.value)
            } catch {
                stage.serving.cancel()
                end.value = .failure(error)
            }
            loop.stop()
        }
        while end.value == nil { loop.run() }
        keeper.invalidate()
        try end.value?.get()
    }
}
