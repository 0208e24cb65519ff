import Glibc
import UVRunLoop

/// Items whose handlers are bound to this thread, and which other threads invalidate, take out or
/// are the last to hold: what a handler has captured is released on this thread, once, and soon.
final class CaptureTraffic: Traffic {
    /// The way in which an item ends.
    enum Fate: CaseIterable {
        /// Another thread invalidates it.
        case invalidated
        /// Another thread invalidates it while this one does.
        case invalidatedTwice
        /// Another thread takes it out of the loop and is the last to hold it.
        case takenOut
        /// It never was in a loop, and another thread is the last to hold it.
        case leftAlone
    }

    /// How many items may be on their way.
    private static let window = 500

    private let worker: Worker
    private let channel = Channel(isSocket: false)

    init(_ worker: Worker) { self.worker = worker }

    func act(_ generator: inout Generator) {
        guard worker.workload.ledger(.captures).outstanding < Self.window else { return }
        let kind = generator.pick(CapturedItem.Kind.allCases)
        let item = CapturedItem(kind, channel.readEnd, worker.loop, capture(kind))
        let fate = generator.pick(Fate.allCases)
        if fate != .leftAlone || !item.mayBeLeftAlone { item.add(to: worker.loop) }
        let loop = worker.loop
        worker.handOver(&generator) { item.meet(fate, loop) }
        if fate == .invalidatedTwice { item.invalidate() }
    }

    /// Something to be released here: that is expected from now on.
    private func capture(_ kind: CapturedItem.Kind) -> Capture {
        let (worker, workload) = (Confined(worker), worker.workload)
        workload.ledger(.captures).send()
        let capture = Capture { isAtHome in
            demand(
                isAtHome,
                "what the handler of a \(kind) has captured to be released on its thread",
                "it released on another thread"
            )
            // A block, because the run may be at its very end. It ends a sleep, too.
            workload.loop.perform {
                worker.value.tally.count(.capturesReleased)
                worker.value.didFinish(.captures)
            }
        }
        if Fault.keepsCapture.strikes(self.worker.settings.fault) {
            _ = Unmanaged.passRetained(capture)
        }
        return capture
    }

    func close() {
        Glibc.close(channel.readEnd)
        Glibc.close(channel.writeEnd)
    }
}
