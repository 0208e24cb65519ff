// A program whose main function is asynchronous, for the tests of such functions.
import Glibc
import TestSupport
import UVRunLoop

@main
struct AsyncMainProbe {
    static func main() async throws {
        UVRunLoop.driveAsyncMain()
        endProcess(after: 60)
        switch CommandLine.arguments.dropFirst().first ?? "" {
        case "serves": try await serveItemsMeanwhile()
        case "actors": try await callActors()
        case "stop": try await surviveStops()
        case "empty": await Task.detached { tell("detached") }.value
        case "throws": throw UVRunLoop.PerformError.cancelled
        case "late": driveAfterTheFirstAwait()
        default: exit(2)
        }
        tell("ends \(isOnMainThread())")
    }

    /// The main loop's timers, blocks and sleepers are served while the main function waits.
    @MainActor static func serveItemsMeanwhile() async throws {
        let loop = UVRunLoop.main
        let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
            tell("timer \(isOnMainThread())")
            loop.perform { tell("block \(isOnMainThread())") }
        }
        loop.add(timer, forMode: .default)
        try await loop.sleep(for: .milliseconds(5))
        tell("slept \(isOnMainThread())")
        try await Task.sleep(for: .milliseconds(1))
        tell("slept again \(isOnMainThread())")
    }

    /// An actor on the main loop, and the main actor.
    static func callActors() async throws {
        let actor = OnMain()
        for _ in 0..<3 { await actor.add() }
        tell("\(await actor.count) \(await actor.isOnMainThread)")
        tell("performs \(await actor.isPerformed)")
        await MainActor.run { tell("main actor \(isOnMainThread())") }
    }

    /// A stop ends a run of the main loop, not the program.
    static func surviveStops() async throws {
        for _ in 0..<3 {
            UVRunLoop.main.perform { UVRunLoop.main.stop() }
            try await UVRunLoop.main.sleep(for: .milliseconds(1))
        }
        tell("runs on")
    }

    static func driveAfterTheFirstAwait() {
        onAnotherThread { UVRunLoop.driveAsyncMain() }
    }

    static func isOnMainThread() -> Bool { UVRunLoop.main.isIsolatingCurrentContext() == true }
}

/// An actor on the main loop.
private actor OnMain {
    private(set) var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        UVRunLoop.main.asUnownedSerialExecutor()
    }

    func add() { count += 1 }

    /// Whether the main thread knows that its loop performs a job.
    var isPerformed: Bool { UVRunLoop.performingJob === UVRunLoop.main }

    var isOnMainThread: Bool { AsyncMainProbe.isOnMainThread() }
}
