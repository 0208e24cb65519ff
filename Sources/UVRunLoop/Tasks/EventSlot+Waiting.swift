extension EventSlot {
    /// Takes the next element, or waits for it.
    ///
    /// - Parameters:
    ///   - loop: The loop of the source, on whose thread a task resumes that waits there.
    ///   - isolation: The caller's actor.
    ///   - rejoin: Adds the source to its mode again.
    /// - Returns: The element; `nil` if the sequence has ended or the task was cancelled.
    func next(
        on loop: UVRunLoop?,
        isolation: isolated (any Actor)?,
        rejoin: () -> Void
    ) async -> Element? {
        if let outcome = take() { return outcome.get() }
        return await wait(on: loop, isolation: isolation, rejoin: rejoin)
    }

    /// Waits for the next element, with nothing there before; as ``next(on:isolation:rejoin:)``.
    func wait(
        on loop: UVRunLoop?,
        isolation: isolated (any Actor)?,
        rejoin: () -> Void
    ) async -> Element? {
        let outcome = await UVRunLoop.suspend(on: loop, isolation: isolation) { task in
            begin(task, rejoin: rejoin)
        } onCancel: {
            cancel($0)
        }
        return outcome.get()
    }
}
