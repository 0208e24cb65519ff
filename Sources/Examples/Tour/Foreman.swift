import UVRunLoop

/// The main thread's part: keeps a list of the workers' command sources and sends them commands.
///
/// It plays the application delegate of the guide's Listings 3-4, 3-6 and 3-8.
@MainActor
final class Foreman {
    private var registered: [CommandContext] = []
    private var summary: Summary?

    /// Runs the main thread's loop until the worker has ended.
    ///
    /// Returns what it counted.
    func run() -> Summary? {
        let loop = UVRunLoop.current
        // A loop with no source and no timer returns at once; this timer keeps it running.
        let reminder = UVRunLoop.Timer(
            after: .milliseconds(400),
            interval: .milliseconds(500),
            handler: { _ in self.send(.report) }
        )
        reminder.label = "reminder"
        loop.add(reminder, forMode: .default)
        loop.run()
        reminder.invalidate()
        return summary
    }

    /// Runs work on the main thread, from any thread, without waiting for it.
    nonisolated func onMainThread(_ work: @escaping @MainActor (Foreman) -> Void) {
        // A block posted to the main loop runs on the main thread, and so on the main actor.
        UVRunLoop.main.perform { MainActor.assumeIsolated { work(self) } }
    }

    /// Registers a source (Listing 3-8, `registerSource:`).
    ///
    /// The worker can be sent commands from here on, so it is told to begin.
    func register(_ context: CommandContext) {
        registered.append(context)
        send(.start)
    }

    /// Removes a source (Listing 3-8, `removeSource:`).
    func remove(_ context: CommandContext) {
        registered.removeAll { $0.source === context.source }
    }

    /// The worker has read all input and waits for a command.
    func inputDidEnd() { send(.finish) }

    /// The worker's loop has returned, so this loop is stopped.
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
