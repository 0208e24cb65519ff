import FoundationEssentials
public import UVRunLoop

extension UVRunLoop {
    /// Core Foundation's functions for run loops, for code that comes from C or Objective-C.
    ///
    /// A function has its Core Foundation name without the prefix `CFRunLoop`, and its arguments in
    /// the same order: `CFRunLoopRunInMode(mode, 1, false)` is
    /// `UVRunLoop.CF.runInMode(mode, 1, false)`. Each makes one call of the classes' own, listed in
    /// the article *Coming from Foundation*. Modes, results and activities have Core Foundation's
    /// raw values; times are seconds, and dates are seconds since the beginning of 2001.
    ///
    /// They are in a namespace, so that a program which also builds on Apple's systems can import
    /// both without ambiguity; `typealias CF = UVRunLoop.CF` makes the calls short.
    public enum CF {
        // MARK: Loops

        /// The calling thread's loop.
        ///
        /// > Threading: Any thread; each has its own.
        ///
        /// - Returns: The loop.
        @available(
            *,
            noasync,
            message: "A task may go on on another thread. Keep the loop, or pass it to the task."
        )
        public static func getCurrent() -> UVRunLoop { .current }

        /// The main thread's loop.
        ///
        /// > Threading: Any thread.
        ///
        /// - Returns: The loop.
        public static func getMain() -> UVRunLoop { .main }

        // MARK: Running

        /// Runs the calling thread's loop in the default mode until the mode is empty or the run is
        /// stopped.
        ///
        /// > Threading: Any thread; each runs its own loop.
        @available(
            *,
            noasync,
            message: "A run keeps its thread. In a task, await the work, or use withThread(_:)."
        )
        public static func run() { UVRunLoop.current.run() }

        /// Runs the calling thread's loop in a mode, for a limited time.
        ///
        /// > Threading: Any thread; each runs its own loop.
        ///
        /// - Parameters:
        ///   - mode: The mode to run in.
        ///   - seconds: The limit. Zero or less makes one pass that does not wait.
        ///   - returnAfterSourceHandled: Whether to return after a pass that handled a source.
        /// - Returns: Why the run ended.
        @available(
            *,
            noasync,
            message: "A run keeps its thread. In a task, await the work, or use withThread(_:)."
        )
        @discardableResult
        public static func runInMode(
            _ mode: Mode,
            _ seconds: TimeInterval,
            _ returnAfterSourceHandled: Bool
        ) -> RunResult {
            UVRunLoop.current.run(
                mode: mode,
                for: Duration(interval: seconds),
                returnAfterSourceHandled: returnAfterSourceHandled
            )
        }

        /// Ends the loop's innermost run.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter loop: The loop.
        public static func stop(_ loop: UVRunLoop) { loop.stop() }

        /// Wakes the loop if it sleeps.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter loop: The loop.
        public static func wakeUp(_ loop: UVRunLoop) { loop.wakeUp() }

        /// Whether the loop sleeps.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter loop: The loop.
        /// - Returns: `true` while it does.
        public static func isWaiting(_ loop: UVRunLoop) -> Bool { loop.isWaiting }

        // MARK: Modes

        /// The mode of the loop's innermost run.
        ///
        /// > Threading: The loop's own thread; traps elsewhere.
        ///
        /// - Parameter loop: The loop.
        /// - Returns: The mode; `nil` when the loop does not run.
        public static func copyCurrentMode(_ loop: UVRunLoop) -> Mode? { loop.currentMode }

        /// The loop's modes.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter loop: The loop.
        /// - Returns: The modes, in no order.
        public static func copyAllModes(_ loop: UVRunLoop) -> [Mode] { Array(loop.modes) }

        /// Adds a mode to the loop's common modes; there is no way to remove it.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - loop: The loop.
        ///   - mode: The mode.
        public static func addCommonMode(_ loop: UVRunLoop, _ mode: Mode) {
            loop.addCommonMode(mode)
        }

        // MARK: Blocks

        /// Queues a block, to run in a mode.
        ///
        /// Unlike Core Foundation's function, it wakes the loop.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - loop: The loop.
        ///   - mode: The mode in which the block may run.
        ///   - block: The work.
        public static func performBlock(
            _ loop: UVRunLoop,
            _ mode: Mode,
            _ block: @escaping @Sendable () -> Void
        ) {
            loop.perform(inModes: [mode], block)
        }

        /// Queues a block, to run once, in the first of some modes that runs.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - loop: The loop.
        ///   - modes: The modes in which the block may run.
        ///   - block: The work.
        public static func performBlock(
            _ loop: UVRunLoop,
            _ modes: [Mode],
            _ block: @escaping @Sendable () -> Void
        ) {
            loop.perform(inModes: modes, block: block)
        }
    }
}
