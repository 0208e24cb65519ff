import BenchSupport
import Glibc
import UVRunLoop

/// Signals sent to the process: each is told to every loop that has a source for it.
///
/// The kernel merges a signal with one that waits. So there is one on its way at a time, and each
/// has to come exactly once.
final class InterruptTraffic: Traffic {
    private static let signal = SIGUSR2

    private let worker: Worker
    private var source: UVRunLoop.SignalSource?

    init(_ worker: Worker) {
        self.worker = worker
        do {
            let source = try UVRunLoop.SignalSource(Self.signal) { [self] _, count in told(count) }
            worker.loop.add(source, forMode: .common)
            self.source = source
        } catch {
            Verdict.fail(expected: "a source for a signal", seen: "\(error)")
        }
    }

    func act(_ generator: inout Generator) {
        guard let scenario = worker.scenario, scenario.isInterrupting.change(from: 0, to: 1) else {
            return
        }
        defer { _ = scenario.isInterrupting.change(from: 1, to: 0) }
        let ledgers = scenario.workloads.map { $0.ledger(.interrupts) }
        guard ledgers.allSatisfy({ $0.outstanding == 0 }) else { return }
        for ledger in ledgers { ledger.send() }
        if !Fault.losesInterrupt.strikes(worker.settings.fault) { kill(getpid(), Self.signal) }
    }

    private func told(_ count: Int) {
        worker.book.notePort()
        demand(count == 1, "one signal that was sent once to come once", "\(count)")
        worker.tally.count(.interruptsTold)
        worker.mayAct(UInt64(worker.tally[.interruptsTold]))
        worker.didFinish(.interrupts)
    }

    func close() {
        source?.invalidate()
        source = nil
    }
}
