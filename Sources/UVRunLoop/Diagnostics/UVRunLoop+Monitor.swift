extension UVRunLoop {
    /// Reports handlers that keep their loop from going on, from a thread of its own.
    ///
    /// A monitor watches all loops of the process. It reports a handler that has been running for
    /// longer than a threshold: once when it finds that, with the item and the stack, and once when
    /// the handler has ended. A sleeping loop is no hang, and neither is a thread whose loop is not
    /// running.
    ///
    /// A handler that runs the loop again is not reported while the nested run makes progress, but
    /// a handler of that run is. After the nested run, the time of the outer handler begins anew.
    ///
    /// To capture the stack, the monitor interrupts the thread with a real-time signal, once for
    /// each hang. A system call of the handler that cannot be restarted, such as `nanosleep`,
    /// returns `EINTR`, as with any signal.
    ///
    /// While there is a monitor, a loop makes four atomic stores for each handler that it calls,
    /// and two for each pass and each sleep. The monitor wakes about four times in the threshold,
    /// but at most once per millisecond. Without one, nothing is stored. See <doc:Observing>.
    ///
    /// > Threading: Any thread.
    public final class Monitor: Sendable {
        /// The reports of a monitor.
        ///
        /// > Threading: Any thread.
        public enum Event: Sendable {
            /// A handler has been running for longer than the threshold.
            case began(Hang)
            /// The handler has ended, or has run the loop again.
            case ended(Hang)
        }

        private let watch: HangWatch

        /// Begins to monitor all loops of the process.
        ///
        /// Handlers that are running already are not reported.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - threshold: How long a handler may run. A hang is reported at most half a threshold,
        ///     or two milliseconds, and two ticks of the system's timer later, on a machine that is
        ///     not overloaded.
        ///   - capturesStacks: Whether to capture stacks, which interrupts the thread. Without
        ///     that, only the items of timers are known.
        ///   - handler: Called on the monitor's thread. While it runs, nothing is monitored. It
        ///     must not wait for a loop that may hang.
        /// - Throws: ``RunLoopError`` if no thread can be started.
        public init(
            threshold: Duration = .milliseconds(250),
            capturesStacks: Bool = true,
            handler: @escaping @Sendable (Event) -> Void
        ) throws(RunLoopError) {
            watch = try RunLoopError.translating(
                try HangWatch.begin(threshold, capturesStacks, handler),
                of: .thread
            )
        }

        /// Begins to monitor all loops of the process, with reports on the standard error.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter threshold: How long a handler may run.
        /// - Throws: ``RunLoopError`` if no thread can be started.
        public convenience init(threshold: Duration) throws(RunLoopError) {
            try self.init(threshold: threshold) { event in
                switch event {
                case .began(let hang):
                    let stack = hang.addresses.joined(separator: " ")
                    ThisProcess.writeToStandardError("\(hang): \(stack)")
                case .ended(let hang): ThisProcess.writeToStandardError("\(hang), and has ended")
                }
            }
        }

        /// Ends the monitor: when this returns, its handler is not called any more.
        ///
        /// A hang that was reported is not reported as ended. Called by the monitor's own handler,
        /// this is the last call. The end of the last reference to the monitor has the same effect.
        ///
        /// > Threading: Any thread.
        public func stop() { watch.end() }

        deinit { watch.end() }
    }
}
