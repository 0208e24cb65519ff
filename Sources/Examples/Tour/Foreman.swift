import UVRunLoop

/// The main thread's part: knows the command sources of the workers and sends them commands.
///
/// It plays the application delegate of the guide's Listings 3-4, 3-6 and 3-8.
@MainActor
final class Foreman {
    private var registered: [CommandContext] = []
    private var summary: Summary?

    /// Runs the main thread's loop until the worker has ended, and hands over what it counted.
    func run() -> Summary? {
        let loop = UVRunLoop.current
        // A loop with nothing to wait for would return at once. This timer keeps it running.
        let reminder = UVRunLoop.Timer(
            after: .milliseconds(400),
            interval: .milliseconds(500),
            handler: { _ in self.send(.report) }
        )
        loop.add(reminder, forMode: .default)
        loop.run()
        reminder.invalidate()
        return summary
    }

    /// Runs work on the main thread, from any thread, without waiting for it.
    nonisolated func onMainThread(_ work: @escaping @MainActor (Foreman) -> Void) {
        // A block given to the main loop runs on the main thread, which is the main actor's.
        UVRunLoop.main.perform { MainActor.assumeIsolated { work(self) } }
    }

    /// Remembers a source (Listing 3-8, `registerSource:`).
    ///
    /// From here on the worker can be talked to, so it may begin.
    func register(_ context: CommandContext) {
        registered.append(context)
        send(.start)
    }

    /// Forgets a source (Listing 3-8, `removeSource:`).
    func remove(_ context: CommandContext) {
        registered.removeAll { $0.source === context.source }
    }

    /// The worker has read everything, and waits for what comes next.
    func inputDidEnd() { send(.finish) }

    /// The worker's loop has returned: there is nothing left to run this loop for.
    func workerDidEnd(_ summary: Summary) {
        self.summary = summary
        UVRunLoop.current.stop()
    }

    /// First the command goes into the buffer, then the source is signalled and its loop woken.
    private func send(_ command: Command) {
        for context in registered {
            context.source.add(command)
            context.source.fireCommands(on: context.loop)
        }
    }
}
