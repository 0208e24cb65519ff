import Glibc
import UVRunLoop
import UVRunLoopPorts

/// A service that adds up numbers for its clients, and such a client.
@main
enum Tally {
    static func main() async {
        UVRunLoop.driveAsyncMain()
        // The reader of standard output may close it; that must not end the service.
        signal(SIGPIPE, SIG_IGN)
        do {
            let invocation = try Invocation(CommandLine.arguments.dropFirst())
            // All that waits for the main loop resumes on its thread.
            try await withTaskExecutorPreference(UVRunLoop.main.taskExecutor) {
                try await perform(invocation)
            }
        } catch let error as Invocation.Misuse {
            say("Tally: \(error.sentence)\n\n\(Invocation.usage)", to: STDERR_FILENO)
            exit(2)
        } catch {
            say("Tally: \(error)", to: STDERR_FILENO)
            exit(1)
        }
    }

    private static func perform(_ invocation: Invocation) async throws {
        switch invocation.command {
        case .help: say(Invocation.usage)
        case .serve(let address): try await serve(at: address, limit: invocation.limit)
        case .client(let address, let lines):
            // First, because the connection gets the number 0 if there is no standard input.
            let input = lines.isEmpty ? try UVRunLoop.main.readiness(of: 0, .readable) : nil
            var client = try await Client(on: .main, to: address, invocation.limit ?? .seconds(5))
            for line in lines { try show(try await client.ask(line)) }
            if let input { try await client.ask(from: input, show) }
        }
    }

    /// Serves until SIGTERM or SIGINT, and prints the totals.
    private static func serve(at address: UVRunLoop.SocketAddress, limit: Duration?) async throws {
        let signals = try [SIGTERM, SIGINT].map { try UVRunLoop.main.signals($0) }
        var limits = Service.Limits()
        if let limit { limits.silence = limit }
        let service = try Service(on: .main, at: address, limits)
        say("Tally listens at \(service.address ?? address)")
        async let _: Void = end(service, at: signals)
        let failure = await failure(of: service)
        for line in await service.ledger.report { say(line) }
        if let failure { throw failure }
    }

    private static func failure(of service: Service) async -> (any Error)? {
        do { try await service.run() } catch { return error }
        return nil
    }

    /// Ends the service at the first signal.
    ///
    /// The second one ends the program at once.
    private static func end(_ service: Service, at signals: [UVRunLoop.Signals]) async {
        await withTaskGroup { group in
            for signal in signals {
                group.addTask { for await _ in signal { break } }
            }
            await group.next()
            group.cancelAll()
        }
        for signal in signals { signal.invalidate() }
        await service.end()
    }
}

/// Writes a line to standard output, unbuffered.
private func show(_ line: String) throws(Trouble) {
    let error = say(line)
    if error != 0 { throw Trouble("cannot write: \(String(cString: strerror(error)))") }
}

/// Writes a line to standard output or another descriptor, unbuffered.
///
/// Returns 0, or the number of the error.
@discardableResult
func say(_ line: String, to descriptor: CInt = STDOUT_FILENO) -> CInt {
    var rest = Array("\(line)\n".utf8)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        let error = count < 0 ? errno : 0
        if error == EAGAIN {
            var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&room, 1, -1)
        } else if error != 0, error != EINTR {
            return error
        }
        rest = rest.dropFirst(max(count, 0))
    }
    return 0
}

/// Why the program cannot go on.
struct Trouble: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
