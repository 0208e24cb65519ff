extension UVRunLoop {
    /// Suspends the calling task, which may be cancelled, until it is resumed.
    ///
    /// - Parameters:
    ///   - loop: The loop on whose thread a task resumes that waits there; `nil` if there is none.
    ///   - isolation: The caller's actor.
    ///   - begin: Stores the task, which is to be resumed exactly once, unless it was cancelled.
    ///   - cancel: Called with the number of the wait when the task is cancelled: before `begin`, which
    ///     has to check for that, or after it, also if the task was resumed and has not gone on yet.
    /// - Returns: The value that the task was resumed with.
    package static func suspend<Value: Sendable>(
        on loop: UVRunLoop?,
        isolation: isolated (any Actor)?,
        _ begin: (WaitingTask<Value>) -> Void,
        onCancel cancel: @Sendable (WaitNumber) -> Void
    ) async -> Value {
        guard let loop else { return await suspend(isolation: isolation, begin, cancel) }
        return await loop.resumingHere(isolation: isolation) {
            _ = isolation
            return await suspend(isolation: isolation, begin, cancel)
        }
    }

    private static func suspend<Value: Sendable>(
        isolation: isolated (any Actor)?,
        _ begin: (WaitingTask<Value>) -> Void,
        _ cancel: @Sendable (WaitNumber) -> Void
    ) async -> Value {
        let wait = WaitNumber.next()
        return await withTaskCancellationHandler {
            _ = isolation
            return await WaitingTask.suspend(wait, isolation: isolation, begin)
        } onCancel: {
            cancel(wait)
        }
    }

    /// Has a task that waits on the loop's thread resume there.
    ///
    /// Without a preference for the loop, a resumed task first goes to the runtime's thread pool,
    /// although its actor is on the loop; that takes ten times as long.
    private func resumingHere<Value>(
        isolation: isolated (any Actor)?,
        _ body: () async -> Value
    ) async -> Value {
        // Asking the runtime for the task's preference would take 600 instructions.
        let prefersLoop = local.ifHere.map { local in
            local.runningJob.map { $0.executors != .actor } ?? false
        }
        guard prefersLoop == false else { return await body() }
        return await withTaskExecutorPreference(taskExecutorObject, operation: body)
    }

    /// Has the loop go on with its pass before the calling task, which is a job of it.
    ///
    /// The task goes on where the loop performs blocks next, or when it has ended.
    func goOnBefore(isolation: isolated (any Actor)?) async {
        let wait = nextBlocks()
        _ = try? await Self.outcome(of: wait, on: self, isolation: isolation) {}
    }

    /// Returns a wait that is settled where the loop performs blocks next, or when it drops them.
    private func nextBlocks() -> TaskWait<Void> {
        let wait = TaskWait<Void>()
        let end = WaitEnd(wait)
        perform(inModes: [.common]) { end.settle(.success(())) }
        return wait
    }

    /// The calling thread's loop, if it is performing a job; `nil` otherwise.
    package static var performingJob: UVRunLoop? {
        ThreadRecord.withCurrentLoop { loop in
            guard let loop, loop.local.here.isInJob else { return nil }
            return loop
        }
    }
}
