extension UVRunLoop {
    /// Starts a thread with a loop, passes the loop to a function, and ends the thread.
    ///
    /// The function runs in the caller's isolation, not on the thread: use its loop as an actor's
    /// executor, as the preference of tasks, or for sequences and sleeps. When the function has
    /// returned or thrown, the thread performs the work that is queued, as by
    /// ``Thread/stop(afterQueuedWork:)``, and this returns when the thread has ended. Waiting for
    /// that blocks no thread of the runtime, unless the system has no thread left for the wait.
    ///
    /// > Threading: Any task.
    ///
    /// - Parameters:
    ///   - name: A name for debuggers, which show its first 15 bytes.
    ///   - stackSize: The size of the stack in bytes; `nil` for the system's default.
    ///   - isolation: The caller's actor.
    ///   - body: The function.
    /// - Returns: The function's result.
    /// - Throws: The function's error; ``RunLoopError`` if no thread could be started.
    public static func withThread<R>(
        name: String? = nil,
        stackSize: Int? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (UVRunLoop) async throws -> R
    ) async throws -> R {
        let thread = try Thread(name, stackSize, nil, on: makeUVDriver)
        do {
            let result = try await body(thread.runLoop)
            await thread.end(isolation: isolation)
            return result
        } catch {
            await thread.end(isolation: isolation)
            throw error
        }
    }
}

extension UVRunLoop.Thread {
    /// Stops the thread after its queued work, and waits until it has ended.
    package func end(isolation: isolated (any Actor)? = #isolation) async {
        stop()
        await WaitingTask<Void>.suspend(isolation: isolation) { task in
            PosixThread.startDetached("thread-end", stackSize: PosixThread.smallestStack) {
                self.join()
                task.resume(returning: ())
            }
        }
    }
}
