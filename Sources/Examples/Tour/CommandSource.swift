import Synchronization
import UVRunLoop

/// A command that the main thread sends to a worker.
enum Command: String {
    case start
    case report
    case finish
}

/// A custom input source with a buffer of commands (Listing 3-3, `RunLoopSource`).
///
/// The buffer is filled on one thread and emptied on another, so it lives under a lock.
final class CommandSource: Sendable {
    private struct Contents {
        var commands: [Command] = []
        var source: UVRunLoop.Source?
    }

    private let client: Foreman
    private let contents = Mutex(Contents())

    /// - Parameter client: Notified when the source joins a loop and when it leaves.
    init(client: Foreman) { self.client = client }

    /// Makes the source and installs it on the calling thread's loop (Listing 3-7).
    func addToCurrentRunLoop(handler: @escaping (Command) -> Void) {
        let source = UVRunLoop.Source(
            schedule: { loop, _ in self.didJoin(loop) },
            cancel: { loop, _ in self.didLeave(loop) },
            perform: { _ in self.takeCommands().forEach(handler) }
        )
        source.label = "commands"
        contents.withLock { $0.source = source }
        UVRunLoop.current.add(source, forMode: .default)
    }

    /// Invalidates the source, which calls `cancel`.
    func invalidate() {
        let source = contents.withLock { $0.source.take() }
        source?.invalidate()
    }

    // MARK: The client's side, on any thread

    /// Adds a command to the buffer; it runs once the source fires.
    func add(_ command: Command) { contents.withLock { $0.commands.append(command) } }

    /// Signals the source, and wakes the loop in case it sleeps (Listing 3-9).
    func fireCommands(on loop: UVRunLoop) {
        let source = contents.withLock { $0.source }
        source?.signal()
        loop.wakeUp()
    }

    // MARK: The callbacks, on the loop's thread

    /// Listing 3-4: a source that joins a loop registers with its client on the main thread.
    private func didJoin(_ loop: UVRunLoop) {
        let context = CommandContext(source: self, loop: loop)
        client.onMainThread { $0.register(context) }
    }

    /// Listing 3-6: a source that leaves is removed from its client's list.
    ///
    /// The listing waits until the client has done so. That is unnecessary here: the context keeps
    /// the source alive, and signalling an invalid source does nothing.
    private func didLeave(_ loop: UVRunLoop) {
        let context = CommandContext(source: self, loop: loop)
        client.onMainThread { $0.remove(context) }
    }

    /// Empties the buffer for Listing 3-5: the commands run after the lock is released.
    private func takeCommands() -> [Command] {
        contents.withLock { contents in
            let commands = contents.commands
            contents.commands = []
            return commands
        }
    }
}

/// A reference to a source, for its client (Listing 3-3, `RunLoopContext`).
struct CommandContext: Sendable {
    let source: CommandSource
    let loop: UVRunLoop
}
