import Synchronization
import UVRunLoop

/// What the main thread may ask of a worker.
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

    /// - Parameter client: Who is told when the source joins a loop and when it leaves.
    init(client: Foreman) { self.client = client }

    /// Makes the source and installs it on the calling thread's loop (Listing 3-7).
    func addToCurrentRunLoop(handler: @escaping (Command) -> Void) {
        let source = UVRunLoop.Source(
            schedule: { loop, _ in self.didJoin(loop) },
            cancel: { loop, _ in self.didLeave(loop) },
            perform: { _ in self.takeCommands().forEach(handler) }
        )
        contents.withLock { $0.source = source }
        UVRunLoop.current.add(source, forMode: .default)
    }

    /// Takes the source out of its loop for good, which calls `cancel`.
    func invalidate() {
        let source = contents.withLock { $0.source.take() }
        source?.invalidate()
    }

    // MARK: The client's side, on any thread

    /// Leaves a command in the buffer; nothing happens until the source is fired.
    func add(_ command: Command) { contents.withLock { $0.commands.append(command) } }

    /// Says that there is work, and wakes the loop in case it sleeps (Listing 3-9).
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

    /// Listing 3-6: a source that leaves asks its client to forget it.
    ///
    /// The listing waits here until the client has done so. There is no need to: the context
    /// keeps the source alive, and signalling an invalid source does nothing.
    private func didLeave(_ loop: UVRunLoop) {
        let context = CommandContext(source: self, loop: loop)
        client.onMainThread { $0.remove(context) }
    }

    /// Empties the buffer for Listing 3-5: the commands are carried out after the lock is open.
    private func takeCommands() -> [Command] {
        contents.withLock { contents in
            let commands = contents.commands
            contents.commands = []
            return commands
        }
    }
}

/// All a client needs to reach a source (Listing 3-3, `RunLoopContext`).
struct CommandContext: Sendable {
    let source: CommandSource
    let loop: UVRunLoop
}
