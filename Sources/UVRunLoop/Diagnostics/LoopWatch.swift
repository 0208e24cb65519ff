import Synchronization

/// The watchers of this process's loops: monitors, recorders and the like.
///
/// While nothing watches, a loop reads one word in each run, pass and sleep, and before each call
/// of a handler, and that is all.
package enum LoopWatch {
    /// Zero while nothing watches; changes with every change to the watchers.
    private static let version = Atomic<UInt64>(0)

    private struct State {
        var watchers: [any LoopWatcher] = []
        var serial: UInt64 = 0
    }

    private final class Registry: Sendable {
        let state = Guarded(State())
    }

    private static let registry = PerProcess { Registry() }

    @inline(__always)
    static var isOn: Bool { version.load(ordering: .relaxed) != 0 }

    /// Adds a watcher, for all loops of the process.
    package static func add(_ watcher: any LoopWatcher) { change { $0.append(watcher) } }

    /// Removes a watcher; calls to it that have begun go on.
    package static func remove(_ watcher: any LoopWatcher) {
        change { $0.removeAll { $0 === watcher } }
    }

    private static func change(_ body: (inout [any LoopWatcher]) -> Void) {
        let former = registry.current.state.withLock { state in
            let former = state.watchers
            body(&state.watchers)
            state.serial += 1
            publish(state)
            return former
        }
        withExtendedLifetime(former) {}
    }

    private static func publish(_ state: State) {
        version.store(state.watchers.isEmpty ? 0 : state.serial, ordering: .relaxed)
    }

    /// The watchers at a version; a forked child has none at first.
    static var watchers: [any LoopWatcher] {
        registry.current.state.withLock { state in
            publish(state)
            return state.watchers
        }
    }

    static var currentVersion: UInt64 { version.load(ordering: .relaxed) }

    // MARK: Wake-ups

    /// Wakes a sleeping loop, and tells the watchers.
    @inline(never)
    fileprivate static func wakeWatched(_ remote: any LoopRemote) {
        let watchers = watchers
        let began = monotonicNow()
        for watcher in watchers { watcher.willWake(remote, at: began) }
        remote.wake()
        let ended = monotonicNow()
        for watcher in watchers { watcher.didWake(remote, from: began, until: ended) }
    }
}

extension LoopRemote {
    /// Wakes a sleeping loop.
    func wakeLoop() {
        if LoopWatch.isOn { LoopWatch.wakeWatched(self) } else { wake() }
    }
}

/// Watches the loops of the process.
package protocol LoopWatcher: AnyObject, Sendable {
    /// Begins to watch a loop; called on the loop's thread.
    ///
    /// - Returns: What is told of the loop's events; `nil` if the watcher only reads the loop's
    ///   activity.
    func beginWatching(_ loop: UVRunLoop) -> (any LoopTrack)?

    /// Called when a thread is about to wake a sleeping loop, and afterwards.
    func willWake(_ remote: any LoopRemote, at time: Int64)
    func didWake(_ remote: any LoopRemote, from began: Int64, until ended: Int64)

    /// Called on the loop's thread when the loop has ended.
    func loopDidEnd(_ loop: UVRunLoop)
}

extension LoopWatcher {
    package func willWake(_ remote: any LoopRemote, at time: Int64) {}
    package func didWake(_ remote: any LoopRemote, from began: Int64, until ended: Int64) {}
    package func loopDidEnd(_ loop: UVRunLoop) {}
}

/// Is told of the events of one loop, on the loop's thread, with no lock held.
package protocol LoopTrack: AnyObject, Sendable {
    func note(_ event: LoopEvent)
}

/// Something that a loop did; times are nanoseconds of the monotonic clock.
package enum LoopEvent: Sendable {
    case runBegan(UVRunLoop.Mode, at: Int64)
    case runEnded(UVRunLoop.RunResult, at: Int64)
    /// A pass, and how many perform requests wait.
    case passBegan(at: Int64, requests: Int)
    case slept(from: Int64, until: Int64)
    case called(Callout, from: Int64, until: Int64)
    /// The loop has taken the blocks that were waiting, to run them.
    case tookBlocks(Int)
    /// The loop has performed jobs in a row.
    case performedJobs(Int)
    /// The kernel has refused to watch a descriptor.
    case refused(descriptor: CInt, at: Int64)
    /// A run returned at once because nothing was ever added to its mode.
    case modeIsUnknown(UVRunLoop.Mode, at: Int64)
}
