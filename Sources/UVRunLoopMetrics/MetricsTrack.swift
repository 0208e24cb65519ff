#if Metrics
import Metrics
import UVRunLoop

/// The metrics of one loop.
final class MetricsTrack: LoopTrack {
    private let passes: Counter
    private let sleeps: Metrics.Timer
    private let lateness: Metrics.Timer
    private let misses: Counter
    private let blocks: Recorder
    private let jobs: Recorder
    private let requests: Recorder
    /// By the raw values of the kinds, the first of which is one.
    private let handlers: [Metrics.Timer]

    init(_ prefix: String, loop: String, _ factory: any MetricsFactory) {
        let dimensions = [("loop", loop)]
        func timer(_ name: String) -> Metrics.Timer {
            Metrics.Timer(label: "\(prefix).\(name)", dimensions: dimensions, factory: factory)
        }
        func counter(_ name: String) -> Counter {
            Counter(label: "\(prefix).\(name)", dimensions: dimensions, factory: factory)
        }
        func recorder(_ name: String) -> Recorder {
            Recorder(label: "\(prefix).\(name)", dimensions: dimensions, factory: factory)
        }
        passes = counter("passes")
        sleeps = timer("sleep")
        lateness = timer("timer.lateness")
        misses = counter("timer.misses")
        blocks = recorder("queue.blocks")
        jobs = recorder("queue.jobs")
        requests = recorder("queue.requests")
        handlers = UVRunLoop.HandlerKind.allCases.map { kind in
            Metrics.Timer(
                label: "\(prefix).handler",
                dimensions: dimensions + [("kind", "\(kind)")],
                factory: factory
            )
        }
    }

    func record(_ event: LoopEvent) {
        switch event {
        case .passBegan(_, let waiting):
            passes.increment()
            requests.record(waiting)
        case .slept(let began, let ended): sleeps.recordNanoseconds(ended - began)
        case .called(let call, let began, let ended): record(call, ended - began)
        case .tookBlocks(let count): blocks.record(count)
        case .performedJobs(let count): jobs.record(count)
        case .runBegan, .runEnded, .refused, .modeIsUnused: break
        }
    }

    private func record(_ call: Callout, _ time: Int64) {
        handlers[Int(call.kind.rawValue) - 1].recordNanoseconds(time)
        if let late = call.lateness { lateness.recordNanoseconds(late) }
        if call.missed > 0 { misses.increment(by: call.missed) }
    }
}
#endif
