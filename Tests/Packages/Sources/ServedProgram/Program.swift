import Logging
import ServiceLifecycle
import UVRunLoop
import UVRunLoopService

/// Counts, on the thread of a loop.
actor Counter: Service {
    private let loop: UVRunLoop
    private let logger: Logger
    private var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(on loop: UVRunLoop, logger: Logger) {
        self.loop = loop
        self.logger = logger
    }

    func run() async throws {
        logger.info("Counting.")
        for await dates in loop.ticks(every: .milliseconds(100)).cancelOnGracefulShutdown() {
            count += dates
        }
        logger.info("Counted to \(count).")
    }
}

@main
struct Program {
    static func main() async throws {
        let logger = Logger(label: "counter")
        let thread = try UVRunLoop.Service(name: "counter")
        let counter = Counter(on: thread.runLoop, logger: logger)
        let group = ServiceGroup(
            services: [thread, counter],  // Shut down from the last to the first.
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        try await group.run()
        logger.info("The thread has ended.")
    }
}
