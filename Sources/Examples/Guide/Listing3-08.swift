// Listing 3-8: the client of custom sources, which keeps a list of them to send commands to.
// Sources are added to the list when they join a loop (3-4) and removed when they leave it (3-6).

import Synchronization
import UVRunLoop

/// Keeps the workers' sources; it lives on the thread that makes it.
///
/// In an application that is the main thread, and the delegate belongs to the main actor and is
/// reached with `UVRunLoop.requestPerformOnMain`. Here any thread may play that part, for the
/// tests.
final class AppDelegate: Sendable {
    let runLoop = UVRunLoop.current
    private let log: Log
    private let sourcesToPing = Mutex<[RunLoopContext]>([])

    init(log: Log) {
        self.log = log
        // An application's loop always has sources; this one has a source that is never signalled.
        runLoop.add(UVRunLoop.Source { _ in }, forMode: .default)
    }

    var sources: [RunLoopContext] { sourcesToPing.withLock { $0 } }

    func registerSource(_ context: RunLoopContext) {
        sourcesToPing.withLock { $0.append(context) }
        log.note("the client registers the source")
    }

    /// Without a source the run has no reason to go on.
    func removeSource(_ context: RunLoopContext) {
        let isLast = sourcesToPing.withLock { sources in
            sources.removeAll { $0.source === context.source && $0.runLoop === context.runLoop }
            return sources.isEmpty
        }
        log.note("the client removes the source")
        if isLast { runLoop.stop() }
    }

    /// Runs the loop until the last source is removed, for at most half a minute.
    func run() { runLoop.run(mode: .default, for: .seconds(30)) }
}

/// Two sources are registered and removed one after the other; each finds its own entry.
func coordinateWithAClient(_ log: Log) {
    let delegate = AppDelegate(log: log)
    let contexts = [1, 2].map { _ in
        RunLoopContext(
            runLoop: .current,
            source: RunLoopSource(delegate: delegate, log: log)
        )
    }
    for context in contexts { delegate.registerSource(context) }
    log.note("\(delegate.sources.count) sources are known")
    delegate.removeSource(contexts[0])
    let isOther = delegate.sources.first?.source === contexts[1].source
    log.note("\(delegate.sources.count) source is known, the other one: \(isOther)")
    delegate.removeSource(contexts[0])
    log.note("\(delegate.sources.count) source is known")
}
