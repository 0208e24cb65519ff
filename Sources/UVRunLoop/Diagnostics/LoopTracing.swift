import Synchronization

/// The tracers of this process's loops: monitors, recorders and the like.
///
/// While nothing traces what they do, a loop reads one word in each run, pass and sleep, before each
/// notification of observers and batch of blocks and before each other call of a handler.
package enum LoopTracing {
    /// Zero while there are no tracers; changes with every change to them.
    private static let version = Atomic<UInt64>(0)
    private static let workIsTraced = Atomic(false)

    private struct State {
        var tracers: [any LoopTracer] = []
        var serial: UInt64 = 0
    }

    private static let state = GuardedPerProcess { State() }

    /// Whether something traces what loops do.
    @inline(__always)
    static var isOn: Bool { workIsTraced.load(ordering: .relaxed) }

    /// Whether there are tracers, be it only of mistakes.
    static var hasTracers: Bool { currentVersion != 0 }

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
        workIsTraced.store(state.tracers.contains(where: \.tracesWork), ordering: .relaxed)
    }

    /// The tracers; a forked child has none at first.
    static var tracers: [any LoopTracer] { present.tracers }

    /// The tracers and their version, which belong together: a forked child counts anew.
    static var present: (tracers: [any LoopTracer], version: UInt64) {
        state.withLock { state in
            publish(state)
            return (state.tracers, state.tracers.isEmpty ? 0 : state.serial)
        }
    }

    static var currentVersion: UInt64 { version.load(ordering: .relaxed) }

    // MARK: Wake-ups

    /// Wakes a sleeping loop, and tells the tracers.
    @inline(never)
    static func wakeTraced(_ remote: any LoopRemote) {
        let tracers = tracers
        let began = monotonicNow()
        for tracer in tracers { tracer.willWake(remote, at: began) }
        remote.wake()
        let ended = monotonicNow()
        for tracer in tracers { tracer.didWake(remote, from: began, until: ended) }
    }
}
