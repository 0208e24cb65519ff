extension UVRunLoop {
    /// Has the main thread run the main loop while an asynchronous `main` is suspended.
    ///
    /// Call it in the first line of `static func main() async`. From the first `await` that
    /// suspends, the main thread runs ``main`` in the default mode until the program ends; before
    /// that, nothing changes. The main actor's jobs are served by the main loop, like the main
    /// dispatch queue. Without this call, the main thread waits in libdispatch, and its loop serves
    /// nothing. ``stop()`` ends one run, and another begins.
    ///
    /// It uses a hook of the Swift runtime, and traps if the runtime has none;
    /// ``runMain(_:)`` works without.
    ///
    /// > Threading: The main thread, before the first `await`; traps elsewhere.
    public static func driveAsyncMain() {
        require(
            ThreadIdentity.current == .main,
            """
            driveAsyncMain() was called on another thread than the main thread. Call it in the \
            first line of an asynchronous main function, before the first await.
            """
        )
        _ = main
        let isSet = AsyncMain.setContinuation { UVRunLoop.runMainForever() }
        require(
            isSet,
            """
            This Swift runtime does not let a library drive an asynchronous main function. Write a \
            synchronous one that calls UVRunLoop.runMain(_:).
            """
        )
    }

    private static func runMainForever() {
        while true { _ = main.runUntilStopped(in: .default) }
    }

    /// Runs the main loop until an asynchronous function on the main actor has returned.
    ///
    /// For a synchronous `main`. The main loop runs in the default mode, whether or not it is
    /// empty; ``stop()`` ends one run, and another begins.
    ///
    /// > Threading: The main thread; traps elsewhere, and where the main actor could not go on: in a
    /// > task, in a block of the main dispatch queue, and in the forked child of a process that has
    /// > used libdispatch.
    ///
    /// - Parameter body: The function.
    /// - Returns: The function's result.
    /// - Throws: The function's error.
    @available(*, noasync, message: "A run keeps its thread. Await the function itself.")
    public static func runMain<R: Sendable>(
        _ body: @escaping @MainActor () async throws -> R
    ) throws -> R {
        require(
            ThreadIdentity.current == .main,
            "runMain(_:) was called on another thread than the main thread, which cannot wait there."
        )
        require(
            !CurrentTask.exists && !MainQueueSource.isServing,
            """
            runMain(_:) was called by the main actor or the main dispatch queue, so the main actor \
            could not go on. Await the function instead.
            """
        )
        let loop = main
        require(
            DispatchMainQueue.isPresent,
            """
            runMain(_:) was called in a process without a main dispatch queue, such as the forked \
            child of one that has used it, where the main actor does not go on. Fork earlier, or \
            start a program in the child.
            """
        )
        let end = MainFunctionEnd<R>()
        Task { @MainActor in
            do {
                end.settle(.success(try await body()))
            } catch {
                end.settle(.failure(error))
            }
        }
        while true {
            if let result = end.result { return try result.get() }
            let terms = Run.Terms(staysWhenEmpty: true) { end.result != nil }
            _ = loop.run(.default, terms, loop.localState())
        }
    }
}

/// The end of the function that ``UVRunLoop/runMain(_:)`` waits for.
private final class MainFunctionEnd<Value: Sendable>: Sendable {
    private let state = Guarded<Result<Value, any Error>?>(nil)

    var result: Result<Value, any Error>? { state.withLock { $0 } }

    func settle(_ result: Result<Value, any Error>) { state.withLock { $0 = result } }
}
