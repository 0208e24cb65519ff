#if Logs
import Logging
import Synchronization
import UVRunLoop

extension UVRunLoop {
    /// Logs what is likely to be a mistake, for all loops of the process, by swift-log.
    ///
    /// - A handler that keeps its loop from going on, as a ``Monitor`` finds it: a warning when
    ///   that is found, and a notice when the handler has ended.
    /// - A loop's first run in a mode that nothing was ever added to, which returns at once: a
    ///   notice.
    /// - A descriptor that the kernel refuses to watch: a warning.
    ///
    /// > Threading: Any thread.
    public final class Logs: Sendable {
        private let tracer: LogTracer
        private let monitor: Monitor?

        /// Begins to log.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - logger: Gets the messages, on the loops' threads and on that of the monitor.
        ///   - threshold: How long a handler may run; `nil` for no monitor.
        /// - Throws: ``RunLoopError`` if the monitor's thread cannot be started.
        public init(
            _ logger: Logger,
            hangThreshold threshold: Duration? = .milliseconds(250)
        ) throws(RunLoopError) {
            if let threshold {
                monitor = try Monitor(threshold: threshold) { logger.log($0) }
            } else {
                monitor = nil
            }
            tracer = LogTracer(logger)
            LoopTracing.add(tracer)
        }

        /// Ends the messages.
        ///
        /// The end of the last reference to this object has the same effect.
        ///
        /// > Threading: Any thread.
        public func stop() {
            LoopTracing.remove(tracer)
            monitor?.stop()
        }

        deinit { LoopTracing.remove(tracer) }
    }
}

extension Logger {
    /// Logs a report of a monitor.
    fileprivate func log(_ event: UVRunLoop.Monitor.Event) {
        switch event {
        case .began(let hang):
            let stack = hang.addresses.map { Metadata.Value.string($0) }
            warning("\(hang)", metadata: ["stack": .array(stack)])
        case .ended(let hang): notice("\(hang), and has ended")
        }
    }
}

private final class LogTracer: LoopTracer {
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    var tracesWork: Bool { false }

    func beginTracing(_ loop: UVRunLoop) -> (any LoopTrack)? {
        LogTrack(logger, loop.trackName)
    }
}

/// Logs the events of one loop.
private final class LogTrack: LoopTrack {
    private let logger: Logger
    private let name: String
    /// Those in which runs have returned at once: a program may go on to try.
    private let unusedModes = Mutex<Set<UVRunLoop.Mode>>([])

    init(_ logger: Logger, _ name: String) {
        self.logger = logger
        self.name = name
    }

    func record(_ event: LoopEvent) {
        switch event {
        case .modeIsUnused(let mode, _):
            guard unusedModes.withLock({ $0.insert(mode).inserted }) else { return }
            logger.notice(
                "A run in the mode \(mode.debugDescription) has returned at once, because nothing was ever added to it.",
                metadata: ["loop": .string(name)]
            )
        case .refused(let descriptor, _):
            logger.warning(
                "The kernel refuses to watch descriptor \(descriptor). Its sources are invalid.",
                metadata: ["loop": .string(name)]
            )
        default: break
        }
    }
}
#endif
