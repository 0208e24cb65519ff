// Programs that run as processes of their own, because they get signals or drive their main thread.
import Glibc
import Logging
import ServiceLifecycle
import UVRunLoop
import UVRunLoopService

@main
struct Probe {
    static func main() async throws {
        alarm(240)
        _ = mainThread
        switch CommandLine.arguments.dropFirst().first ?? "" {
        case "queued": try await performQueuedWork()
        case "beside": try await serveASourceBesideAGroup()
        case "main":
            UVRunLoop.driveAsyncMain()
            try await useTheMainLoop()
        case "served":
            UVRunLoop.driveAsyncMain()
            try await serveOnTheMainLoop()
        default: exit(2)
        }
    }

    /// Blocks that are queued when the thread is stopped are performed before the group returns.
    private static func performQueuedWork() async throws {
        let service = try UVRunLoop.Service(name: "queued")
        let loop = service.runLoop
        let done = Count()
        // The blocks that follow are still queued when the signal stops the thread.
        loop.perform { while !loop.isStopping { usleep(1_000) } }
        for _ in 0..<100 { loop.perform { done.add() } }
        try await makeGroup([service, Speaker()]).run()
        tell("performed: \(done.value)")
        await tellEnd(of: loop)
    }

    /// A source gets a signal that the group does not own.
    private static func serveASourceBesideAGroup() async throws {
        let service = try UVRunLoop.Service(name: "beside")
        let source = try UVRunLoop.SignalSource(
            SIGUSR1,
            sendableHandler: { _, count in tell("usr1: \(count)") }
        )
        service.runLoop.add(source, forMode: .common)
        try await makeGroup([service, Speaker()]).run()
        tell("ended")
    }

    /// The main actor, the main loop and tasks under an asynchronous main function.
    @MainActor private static func useTheMainLoop() async throws {
        let loop = UVRunLoop.main
        let fired = Count()
        let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { _ in fired.add() }
        loop.add(timer, forMode: .default)
        try await Task.sleep(for: .milliseconds(20))
        try await loop.sleep(for: .milliseconds(20))
        tell("on the main thread: \(isMainThread()), timer: \(fired.value > 0)")
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 1...10 { group.addTask { @MainActor in isMainThread() ? number : 0 } }
            var sum = 0
            for await number in group { sum += number }
            return sum
        }
        tell("sum: \(sum)")
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        Task.detached {
            for number in 1...3 { continuation.yield(number) }
            continuation.finish()
        }
        for await number in stream { tell("\(number): \(isMainThread())") }
    }

    /// A group runs under an asynchronous main function that the main loop drives.
    @MainActor private static func serveOnTheMainLoop() async throws {
        let served = Count()
        UVRunLoop.main.add(
            UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { _ in served.add() },
            forMode: .default
        )
        let service = try UVRunLoop.Service { loop in
            var iterator = loop.ticks(every: .milliseconds(1)).makeAsyncIterator()
            while served.value == 0, await iterator.next() != nil {}
            tell("ready")
            try await gracefulShutdown()
        }
        try await makeGroup([service]).run()
        tell("on the main thread: \(isMainThread())")
    }

    private static func makeGroup(_ services: [any Service]) -> ServiceGroup {
        ServiceGroup(
            services: services,
            gracefulShutdownSignals: [.sigterm],
            logger: Logger(label: "probe") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    private static func tellEnd(of loop: UVRunLoop) async {
        do {
            try await loop.sleep(for: .zero)
            tell("the thread goes on")
        } catch {
            tell("the thread has ended")
        }
    }
}

/// Says that the group has started, because a group starts its services after its signals.
private struct Speaker: Service {
    func run() async throws {
        tell("ready")
        try await gracefulShutdown()
    }
}

private let mainThread = pthread_self()

private func isMainThread() -> Bool { pthread_equal(pthread_self(), mainThread) != 0 }

private func tell(_ line: String) {
    print(line)
    fflush(nil)
}
