import UVRunLoop

extension UVRunLoop {
    /// Runs a program in a child process: its output, its exit and its input.
    ///
    /// The program is started when the source is created. The child inherits no descriptors but its
    /// standard ones, and starts with default dispositions and no blocked signals. Its output and
    /// its exit are delivered one event per call, in the modes to which the source was added; output
    /// that is not taken makes the pipe fill up, until the child waits. The exit is delivered when it
    /// has happened, which may be before the end of the output. After the last event, when the
    /// child has ended and its pipes are closed, the source becomes invalid.
    ///
    /// The status of this child only is collected. `SIGCHLD` may be handled by other code: the exit
    /// is found by a pidfd. If the process ignores `SIGCHLD`, statuses are lost.
    ///
    /// The source becomes invalid when the thread of its loop ends, too. The child goes on then.
    /// Requires Linux 5.4 or later.
    ///
    /// See *Input Sources* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class ChildProcess: PortSource {
        /// Something that has happened to the child.
        ///
        /// More events may be added; ignore those that are not known.
        public enum Event: Hashable, Sendable {
            /// The child has written to its standard output; at most 65,536 bytes.
            case output([UInt8])
            /// The child has written to its standard error output; at most 65,536 bytes.
            case errorOutput([UInt8])
            /// The standard output was closed, by the child and all who have inherited it.
            case outputEnded
            /// The standard error output was closed, by the child and all who have inherited it.
            case errorOutputEnded
            /// Everything that was written to the standard input is in the pipe.
            case inputDrained
            /// The standard input takes no more: the child has closed it. What waited is dropped.
            case inputFailed(SystemError)
            /// The child has ended.
            case exited(ChildSource.ExitStatus)
            /// Something was lost: output that could not be read
            /// (``SystemError/Attempt/read``), before the end of that output; or the exit
            /// (``SystemError/Attempt/watch``), because the kernel has no room to watch the child.
            case failed(SystemError)
        }

        /// How many bytes may wait to be written, so that a further ``write(_:)`` is accepted.
        public static let maximumQueuedBytes = 16 << 20

        /// The link between the source and its loop.
        public let link: PortLink
        /// The process ID of the child.
        public let process: CInt
        private let child: ChildHandle
        private let remaining: ChildRemains
        private let input: PipeWriter?
        private let receiver: EventReceiver<ChildProcess, Event>

        /// Starts a program for the calling thread's loop.
        ///
        /// Add the source to the loop with
        /// ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.PortSource,_,_,_)``. It takes one file
        /// descriptor, and one for each pipe.
        ///
        /// > Threading: The thread whose loop serves the source. It waits until the program was
        /// > loaded. Traps if the loop runs in virtual time. If the program cannot be executed, and
        /// > another thread takes the exits of all children by `waitpid(-1)`, libuv aborts.
        ///
        /// - Parameters:
        ///   - configuration: The program, and what it gets.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - handler: Called on the loop's thread with each event.
        /// - Throws: ``SystemError`` if the program or the directory does not exist or must not be
        ///   executed, if no descriptors, processes or memory are left, or if the loop has ended.
        @available(*, noasync, message: "Use spawn(_:), which any task may call.")
        public convenience init(
            _ configuration: Configuration,
            order: Int = 0,
            handler: @escaping (ChildProcess, Event) -> Void
        ) throws(SystemError) {
            try self.init(configuration, order, handler)
        }

        init(
            _ configuration: Configuration,
            _ order: Int,
            _ handler: ((ChildProcess, Event) -> Void)?
        ) throws(SystemError) {
            let handle = Guarded<ChildHandle?>(nil)
            // Collected when the event is delivered, so that it is left for other code otherwise.
            let inbox = EventInbox<Event> { event in
                if case .exited = event { handle.withLock(\.self)?.takeStatus() }
            }
            let running = try RunningChild(configuration, inbox)
            let child = running.child
            handle.withLock { $0 = child }
            let remaining = ChildRemains(running)
            process = running.process
            self.child = child
            self.remaining = remaining
            input = running.input
            receiver = EventReceiver(inbox, running.handles, handler) { source, _ in
                if remaining.isUnwanted { return source.endUnwanted() }
                guard !remaining.knowsExit, let end = child.status else { return }
                remaining.knowsExit = true
                source.link.setEvents { [] }
                inbox.append(.exited(ChildSource.ExitStatus(end)))
            } watchWasRefused: { source, error in
                if remaining.isUnwanted { return source.invalidate() }
                guard !remaining.knowsExit else { return }
                remaining.knowsExit = true
                inbox.append(.failed(SystemError(.watch, error)))
            } didRelease: {
                // If the loop has ended first, nobody else can collect the status.
                if remaining.isUnwanted { child.awaitEnd() }
                child.end()
            } isLast: { event in
                remaining.endsAll(event)
            }
            link = receiver.makeLink(
                watching: child.descriptor,
                order: order,
                warnsAs: "a child process"
            )
        }

        /// The events as a sequence, for a task that takes them instead of a handler.
        ///
        /// > Threading: Any thread.
        public var events: SystemEvents<Event> { SystemEvents(self, receiver) }

        // MARK: Input

        /// Writes to the standard input, which must be a pipe.
        ///
        /// Bytes for which the pipe has no room wait. A child that has closed its input is reported by
        /// ``Event/inputFailed(_:)``; no `SIGPIPE` is raised.
        ///
        /// > Threading: Any thread; the bytes follow those of all calls that returned before.
        ///
        /// - Parameter bytes: The bytes.
        /// - Throws: ``SystemError`` if the input is no pipe or was ended, or more than
        ///   ``maximumQueuedBytes`` wait.
        public func write(_ bytes: [UInt8]) throws(SystemError) {
            guard let input else { throw SystemError(.write, .notAPipe) }
            try input.write(bytes, limit: Self.maximumQueuedBytes)
        }

        /// Closes the standard input when everything was written.
        ///
        /// > Threading: Any thread.
        public func endInput() { input?.finish() }

        /// How many bytes wait to be written.
        ///
        /// > Threading: Any thread.
        public var queuedBytes: Int { input?.queuedBytes ?? 0 }

        // MARK: The child

        /// Sends a signal to the child, but never to another process with its ID.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter signal: The number of the signal, such as `SIGTERM`; zero sends none.
        /// - Throws: ``SystemError`` if the child has ended, if the source was invalidated, if the
        ///   number is no signal, or if it is not permitted.
        public func send(signal: CInt) throws(SystemError) {
            receiver.checkProcess()
            guard isValid || remaining.knowsExit else { throw SystemError(.kill, .invalidated) }
            try attempt(.kill) { () throws(UVError) in try child.send(signal) }
        }

        /// Whether there are still events to come.
        public var isValid: Bool { link.isValid }

        /// Kills the child, and has the loop collect its status: nobody has the source.
        func discard() {
            remaining.isUnwanted = true
            child.kill()
        }

        private func endUnwanted() {
            if child.takeStatus() != nil { invalidate() }
        }

        /// Removes the source from its loop permanently, and closes the pipes: on the loop's thread
        /// before this returns, from another one soon after.
        ///
        /// The child goes on, and may be killed by `SIGPIPE` when it writes. Its status is not
        /// collected, unless the exit was delivered: to avoid a zombie, wait for it with a
        /// ``ChildSource`` or let it end before.
        ///
        /// Called on the loop's thread, no call of the handler begins after this has returned.
        ///
        /// > Threading: Any thread.
        public func invalidate() { UVRunLoop.invalidate(self) }

        deinit { receiver.releaseHandler() }
    }

    /// Starts a program; see ``ChildProcess``.
    ///
    /// The source is in the common modes, which it keeps from being empty until the child has ended
    /// and its events were taken. Take its ``ChildProcess/events``.
    ///
    /// A program that was started when the task is cancelled, and that nobody gets, is killed.
    ///
    /// > Threading: Any task; on the loop's thread it resumes there.
    ///
    /// - Parameters:
    ///   - configuration: The program, and what it gets.
    ///   - isolation: The caller's actor.
    /// - Returns: The source.
    /// - Throws: ``SystemError`` if the program cannot be started; `CancellationError` if the task
    ///   is cancelled; ``PerformError/threadEnded`` if the loop's thread ends first or has ended.
    public func spawn(
        _ configuration: ChildProcess.Configuration,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> ChildProcess {
        try await started(isolation: isolation) {
            try ChildProcess(configuration, 0, nil)
        } discarding: {
            $0.discard()
        }
    }
}

/// The events that are still to come of a child.
private final class ChildRemains: Sendable {
    private struct State {
        var exit = true
        /// Whether the status is known; the event may still wait.
        var knowsExit = false
        /// Whether nobody has the source, and the child was killed.
        var isUnwanted = false
        var output: Bool
        var errorOutput: Bool
    }

    private let state: Guarded<State>

    init(_ child: RunningChild) {
        let output = child.output != nil
        let errorOutput = child.errorOutput != nil
        state = Guarded(State(output: output, errorOutput: errorOutput))
    }

    var knowsExit: Bool {
        get { state.withLock(\.knowsExit) }
        set { state.withLock { $0.knowsExit = newValue } }
    }

    var isUnwanted: Bool {
        get { state.withLock(\.isUnwanted) }
        set { state.withLock { $0.isUnwanted = newValue } }
    }

    /// Whether nothing comes after an event; called once for each.
    func endsAll(_ event: UVRunLoop.ChildProcess.Event) -> Bool {
        state.withLock { state in
            switch event {
            case .exited: state.exit = false
            case .failed(let error): if error.attempt == .watch { state.exit = false }
            case .outputEnded: state.output = false
            case .errorOutputEnded: state.errorOutput = false
            case .output, .errorOutput, .inputDrained, .inputFailed: return false
            }
            return !state.exit && !state.output && !state.errorOutput
        }
    }
}
