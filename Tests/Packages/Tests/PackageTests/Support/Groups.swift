import Logging
import ServiceLifecycle
import Testing
import UVRunLoop

/// A service that is a function.
struct FunctionService: Service {
    private let body: @Sendable () async throws -> Void

    init(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }

    func run() async throws { try await body() }
}

/// A group that no signal ends, and that logs nothing.
func makeGroup(_ services: any Service...) -> ServiceGroup {
    ServiceGroup(services: services, logger: silent)
}

let silent = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }

/// Runs a group, and shuts it down when a function has returned.
func run(_ group: ServiceGroup, until function: @Sendable () async throws -> Void) async throws {
    async let end: Void = group.run()
    try await function()
    await group.triggerGracefulShutdown()
    try await end
}

/// Waits until a loop has ended.
func awaitEnd(of loop: UVRunLoop) async {
    await #expect(throws: UVRunLoop.PerformError.threadEnded) {
        try await loop.sleep(for: .seconds(Int64.max))
    }
}

/// Whether a loop has ended.
func hasEnded(_ loop: UVRunLoop) async -> Bool {
    do {
        try await loop.sleep(for: .zero)
        return false
    } catch {
        return true
    }
}

/// Expects that a loop has ended.
func expectEnd(of loop: UVRunLoop, at location: SourceLocation = #_sourceLocation) async {
    let hasEnded = await hasEnded(loop)
    #expect(hasEnded, sourceLocation: location)
}
