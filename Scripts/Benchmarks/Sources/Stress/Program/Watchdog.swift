import BenchSupport
import Glibc
import BenchSystem
import Synchronization

/// Notices that nothing happens any more: something was lost.
///
/// It is a thread without a loop, so that it does not need what it watches. It counts its own
/// turns and not the time, so that a process that was held up as a whole is not blamed.
final class Watchdog: Sendable {
    private static let turn: useconds_t = 100_000

    private let patience: Int64
    private let progress: @Sendable () -> Int
    private let explanation: @Sendable () -> String
    private let isDone = Atomic<Bool>(false)

    /// - Parameters:
    ///   - patience: How long nothing may happen, in nanoseconds.
    ///   - progress: A number that changes when something happens.
    ///   - explanation: What is being waited for.
    init(
        patience: Int64,
        progress: @escaping @Sendable () -> Int,
        explanation: @escaping @Sendable () -> String
    ) {
        self.patience = patience
        self.progress = progress
        self.explanation = explanation
    }

    func start() -> PosixThread {
        PosixThread { [self] in
            bench_name_thread("watchdog")
            // A signal would cut a turn short.
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_BLOCK, &all, nil)
            watch()
        }
    }

    func stop() { isDone.store(true, ordering: .releasing) }

    private func watch() {
        var latest = progress()
        var turns: Int64 = 0
        while !isDone.load(ordering: .acquiring) {
            usleep(Self.turn)
            let now = progress()
            turns = now == latest ? turns + 1 : 0
            latest = now
            demand(
                turns * Int64(Self.turn) * 1_000 < patience,
                "something to happen within \(Text.decimal(Double(patience) / 1e9, 1)) s",
                "nothing. \(explanation())"
            )
        }
    }
}
