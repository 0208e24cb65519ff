#if Metrics
import Metrics
import UVRunLoop

extension UVRunLoop {
    /// Reports what all loops of the process do to swift-metrics.
    ///
    /// Each metric has the dimension `loop`, with the label that the loop has at its first event,
    /// or else `main` or `loop`. Loops of the same label share their metrics, which are never
    /// destroyed, because what an ended loop has counted is still to be reported: give threads that
    /// come and go one label, or few.
    ///
    /// | Metric | Kind | Meaning |
    /// | --- | --- | --- |
    /// | `uvrunloop.passes` | counter | passes begun |
    /// | `uvrunloop.sleep` | timer | each wait in the kernel, also one that ends at once |
    /// | `uvrunloop.handler` | timer | each call of a handler, by the dimension `kind` |
    /// | `uvrunloop.timer.lateness` | timer | from a timer's date to its call |
    /// | `uvrunloop.timer.misses` | counter | dates of timers that were folded into a later call |
    /// | `uvrunloop.queue.blocks` | recorder | blocks that were waiting when the loop took them |
    /// | `uvrunloop.queue.jobs` | recorder | jobs that the loop performed in a row |
    /// | `uvrunloop.queue.requests` | recorder | perform requests that wait when a pass begins |
    ///
    /// The perform requests of a loop are blocks, called within one source or timer of the loop's
    /// own, which counts, too.
    ///
    /// The loop's own thread calls the backend of swift-metrics, which has to be quick. Bootstrap
    /// it before you create this object. The time of a handler includes the runs that are nested in
    /// it.
    ///
    /// > Threading: Any thread.
    public final class Metrics: Sendable {
        private let tracer: MetricsTracer

        /// Begins to report.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - prefix: The first part of the metrics' names.
        ///   - factory: Makes the metrics; `nil` for the one that the program has bootstrapped.
        public init(prefix: String = "uvrunloop", factory: (any MetricsFactory)? = nil) {
            tracer = MetricsTracer(prefix, factory ?? MetricsSystem.factory)
            LoopTracing.add(tracer)
        }

        /// Ends the reports; a handler that is running may still be reported.
        ///
        /// The end of the last reference to this object has the same effect.
        ///
        /// > Threading: Any thread.
        public func stop() { LoopTracing.remove(tracer) }

        deinit { LoopTracing.remove(tracer) }
    }
}

/// Gives each loop its metrics.
private final class MetricsTracer: LoopTracer {
    private let prefix: String
    private let factory: any MetricsFactory

    init(_ prefix: String, _ factory: any MetricsFactory) {
        self.prefix = prefix
        self.factory = factory
    }

    func beginTracing(_ loop: UVRunLoop) -> (any LoopTrack)? {
        MetricsTrack(prefix, loop: loop.trackName, factory)
    }
}
#endif
