import Synchronization

/// A thread of the library's own, which works until it is told to end.
final class WorkerThread: Sendable {
    private enum Stage {
        case working, ending, ended
    }

    private let process = OwnerProcess()
    private let stage = ConditionGuarded(Stage.working)
    private let thread = Guarded<PosixThread?>(nil)
    private let number = Atomic<Int32>(0)

    /// Starts the thread; called once.
    ///
    /// - Parameters:
    ///   - name: The thread's name for debuggers.
    ///   - body: What it does, which has to return when ``awaitEnd(until:)`` is true.
    /// - Throws: `EAGAIN` if no more threads can be created.
    func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(UVError) {
        let started = try PosixThread(stackSize: nil) { [self] in
            number.store(ThisProcess.currentThread, ordering: .releasing)
            PosixThread.nameCurrent(name)
            body()
            change(to: .ended)
        }
        thread.withLock { $0 = started }
    }

    /// Waits until the thread is to end, or until a date of the monotonic clock.
    ///
    /// - Returns: Whether it is to end.
    func awaitEnd(until date: Int64) -> Bool {
        stage.wait(until: date) { $0 == .working ? nil : true } ?? false
    }

    /// Whether the thread was started by this process; a forked child does not have it.
    var isOfThisProcess: Bool { process.isCurrent }

    /// Ends the thread, and waits until it has done its last work, unless the thread itself is the
    /// caller.
    func end() {
        change(to: .ending)
        let thread = thread.withLock { $0.take() }
        if number.load(ordering: .acquiring) == ThisProcess.currentThread {
            thread?.detach()
        } else {
            _ = stage.wait(until: .max) { $0 == .ended ? true : nil }
            thread?.join()
        }
    }

    private func change(to next: Stage) {
        stage.withLock { if $0 != .ended { $0 = next } }
        stage.wakeAll()
    }
}
