import Synchronization

/// The tracers of this process's loops: monitors, recorders and the like.
///
/// While nothing traces, a loop reads one word in each run, pass and sleep, before each
/// notification and batch of blocks and before each other call of a handler, and that is all.
package enum LoopTracing {
    /// Zero while nothing traces; changes with every change to the tracers.
    private static let version = Atomic<UInt64>(0)

    private struct State {
        var tracers: [any LoopTracer] = []
        var serial: UInt64 = 0
    }

    private static let state = GuardedPerProcess { State() }

    @inline(__always)
    static var isOn: Bool { version.load(ordering: .relaxed) != 0 }

    /// Adds a tracer, for all loops of the process.
    package static func add(_ tracer: any LoopTracer) { change { $0.append(tracer) } }

    /// Removes a tracer; calls to it that have begun go on.
    package static func remove(_ tracer: any LoopTracer) {
        change { $0.removeAll { $0 === tracer } }
    }

    private static func change(_ body: (inout [any LoopTracer]) -> Void) {
        let former = state.withLock { state in
            let former = state.tracers
            body(&state.tracers)
            state.serial += 1
            publish(state)
            return former
        }
        withExtendedLifetime(former) {}
    }

    private static func publish(_ state: State) {
        version.store(state.tracers.isEmpty ? 0 : state.serial, ordering: .relaxed)
    }

    /// The tracers at a version; a forked child has none at first.
    static var tracers: [any LoopTracer] {
        state.withLock { state in
            publish(state)
            return state.tracers
        }
    }

    static var currentVersion: UInt64 { version.load(ordering: .relaxed) }

    // MARK: Wake-ups

    /// Wakes a sleeping loop, and tells the tracers.
    @inline(never)
    fileprivate static func wakeTraced(_ remote: any LoopRemote) {
        let tracers = tracers
        let began = monotonicNow()
        for tracer in tracers { tracer.willWake(remote, at: began) }
        remote.wake()
        let ended = monotonicNow()
        for tracer in tracers { tracer.didWake(remote, from: began, until: ended) }
    }
}

extension LoopRemote {
    /// Wakes a sleeping loop.
    func wakeLoop() {
        if LoopTracing.isOn { LoopTracing.wakeTraced(self) } else { wake() }
    }
}

/// Traces the loops of the process.
package protocol LoopTracer: AnyObject, Sendable {
    /// Begins to trace a loop; called on the loop's thread.
    ///
    /// - Returns: What is told of the loop's events; `nil` if the tracer only reads the loop's
    ///   activity.
    func beginTracing(_ loop: UVRunLoop) -> (any LoopTrack)?

    /// Called when a thread is about to wake a sleeping loop, and afterwards.
    func willWake(_ remote: any LoopRemote, at time: Int64)
    func didWake(_ remote: any LoopRemote, from began: Int64, until ended: Int64)

    /// Called on the loop's thread when the loop has ended.
    func loopDidEnd(_ loop: UVRunLoop)
}

extension LoopTracer {
    package func willWake(_ remote: any LoopRemote, at time: Int64) {}
    package func didWake(_ remote: any LoopRemote, from began: Int64, until ended: Int64) {}
    package func loopDidEnd(_ loop: UVRunLoop) {}
}

/// Is told of the events of one loop, on the loop's thread, with no lock held.
package protocol LoopTrack: AnyObject, Sendable {
    func record(_ event: LoopEvent)
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
