extension EventSlot {
    /// Takes the next element, or waits for it.
    ///
    /// - Parameters:
    ///   - loop: The loop of the source, on whose thread a task resumes that waits there.
    ///   - isolation: The caller's actor.
    ///   - comeBack: Adds the source to its mode again.
    /// - Returns: The element; `nil` if the sequence has ended or the task was cancelled.
    func next(
        on loop: UVRunLoop?,
        isolation: isolated (any Actor)?,
        return comeBack: () -> Void
    ) async -> Element? {
        if let outcome = take() { return outcome.get() }
        return await wait(on: loop, isolation: isolation, return: comeBack)
    }

    /// Waits for the next element, with nothing there before; as ``next(on:isolation:return:)``.
    func wait(
        on loop: UVRunLoop?,
        isolation: isolated (any Actor)?,
        return comeBack: () -> Void
    ) async -> Element? {
        let outcome = await UVRunLoop.suspend(on: loop, isolation: isolation) { task in
            begin(task, return: comeBack)
        } onCancel: {
            cancel($0)
        }
        return outcome.get()
    }
}
