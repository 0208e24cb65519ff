extension UVRunLoop {
    /// Waits until a child process has ended.
    ///
    /// A ``ChildSource`` in the common modes collects its status. If the wait ends without it, the
    /// status can still be collected by other code.
    ///
    /// > Threading: Any task; on the loop's thread it resumes there.
    ///
    /// - Parameters:
    ///   - process: The child's process ID, as returned by `fork` or `posix_spawn`.
    ///   - isolation: The caller's actor.
    /// - Returns: How the child has ended.
    /// - Throws: ``RunLoopError`` if there is no such child, if no descriptors are left, or if the
    ///   kernel has no room to watch it; `CancellationError` if the task is cancelled;
    ///   ``PerformError/threadEnded`` if the loop's thread ends first or has ended.
    public func exitStatus(
        of process: CInt,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> ChildSource.ExitStatus {
        checkProcess()
        try Task.checkCancellation()
        let wait = TaskWait<ChildSource.ExitStatus>()
        let source = try Self.childSource(process, settling: wait)
        addUntilEnd(source)
        return try await Self.outcome(of: wait, on: self, isolation: isolation) {
            source.invalidate()
        }
    }

    private static func childSource(
        _ process: CInt,
        settling wait: TaskWait<ChildSource.ExitStatus>
    ) throws(RunLoopError) -> ChildSource {
        let end = WaitEnd(wait)
        // In one step: after a cancelled wait the status is left to other code.
        return try ChildSource(process) { finding in
            switch finding {
            case .isReady(let child):
                end.settle { child.takeStatus().map { .success(ChildSource.ExitStatus($0)) } }
            case .isUnwatched(let error): end.settle(.failure(RunLoopError(error, of: .child)))
            }
        }
    }
}
