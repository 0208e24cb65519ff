import Injection

/// A thread of the system's.
struct PlainThread: Sendable {
    private let id: UInt

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - isPartOfOperation: Whether its calls may fail on purpose.
    ///   - body: What the thread does.
    init(isPartOfOperation: Bool = true, _ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(body)).toOpaque()
        id = work_start_thread(
            { context in
                guard let context else { return }
                Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
            },
            box,
            isPartOfOperation
        )
    }

    func join() { work_join_thread(id) }

    private final class Box: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
