import Testing
import UVRunLoop

/// An actor on the thread of a loop.
actor Pinned {
    private let loop: UVRunLoop

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: UVRunLoop) { self.loop = loop }
}

/// The ways in which asynchronous code runs on a loop.
enum Place: CaseIterable {
    case pinnedActor, preferringTask

    /// Runs a body on the thread of a new loop.
    func run(
        _ body: @escaping @Sendable (isolated (any Actor)?, UVRunLoop) async throws -> Void
    ) async throws {
        try await UVRunLoop.withThread { loop in
            switch self {
            case .pinnedActor: try await body(Pinned(loop), loop)
            case .preferringTask:
                try await withTaskExecutorPreference(loop.taskExecutor) {
                    try await body(nil, loop)
                }
            }
        }
    }
}

/// Whether the caller is on the thread of a loop.
func isOn(_ loop: UVRunLoop) -> Bool { UVRunLoop.Thread.current?.runLoop === loop }

/// Expects that the caller is on the thread of a loop.
///
/// A failed expectation shows the values in it, and some parts of a loop cannot be shown.
func expectOn(_ loop: UVRunLoop, at location: SourceLocation = #_sourceLocation) {
    let isOnLoop = isOn(loop)
    #expect(isOnLoop, sourceLocation: location)
}

/// A stream of numbers that has ended.
func numbers(_ numbers: ClosedRange<Int>) -> AsyncStream<Int> {
    AsyncStream { continuation in
        for number in numbers { continuation.yield(number) }
        continuation.finish()
    }
}
