extension UVRunLoop {
    /// Records what all loops of the process do, as a timeline for Perfetto or Chrome.
    ///
    /// The file shows, for each loop's thread, its runs, passes and sleeps, the calls of handlers
    /// with the labels of their items, how late timers were called, and which thread woke a
    /// sleeping loop. Open it at <https://ui.perfetto.dev> or in `chrome://tracing`.
    ///
    /// Loops never wait for the disk: a thread of the recorder writes the events 20 times a second.
    /// A loop that has 131,072 events waiting drops further ones, and of all loops together as many
    /// wake-ups may wait; the file says how many were dropped, and how many could not be written,
    /// as on a full disk, which is also reported on the standard error. The file is complete when
    /// ``stop()`` has returned or the program has exited. If the program is killed, the events of
    /// the last moments are missing, and the rest can be opened.
    ///
    /// A program records itself from its first loop on when the environment variable
    /// `UVRUNLOOP_TRACE` has the path of a file. See <doc:Observing>.
    ///
    /// > Threading: Any thread.
    public final class Recorder: Sendable {
        private let recording: Recording

        /// Begins to record.
        ///
        /// Loops that are running are recorded from their next pass on, or earlier.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter path: The file, which is created, or emptied if it exists. A named pipe has
        ///   to be read to its end, for which ``stop()`` and the exit of the program wait.
        /// - Throws: ``RunLoopError`` if the file cannot be opened, as a named pipe that nobody
        ///   reads, or another recorder, of this process or another one, is recording to it, or the
        ///   path contains a zero byte, or no thread can be started.
        public init(path: String) throws(RunLoopError) {
            recording = try Recording.begin(path: path)
        }

        /// Ends the recording, and returns when the file is complete.
        ///
        /// Has no effect the second time. The end of the last reference to the recorder has the
        /// same effect.
        ///
        /// > Threading: Any thread.
        public func stop() { recording.end() }

        deinit { recording.end() }
    }
}

/// The recorder that the environment asks for.
enum EnvironmentRecorder {
    /// Begins to record, once in this program, if the environment asks for it.
    static func begin() { _ = begun }

    private static let begun: Void = {
        guard let path = ThisProcess.environment("UVRUNLOOP_TRACE"), !path.isEmpty else { return }
        do {
            try open(path)
        } catch {
            ThisProcess.writeToStandardError("UVRUNLOOP_TRACE: \(path) cannot be written: \(error)")
        }
    }()

    /// Opens the file, or one beside it if a process that started this one is writing it.
    private static func open(_ path: String) throws(RunLoopError) {
        do {
            _ = try Recording.begin(path: path)
        } catch {
            guard error.code == .fileBeingRecordedTo else { throw error }
            _ = try Recording.begin(path: "\(path).\(ThisProcess.number)")
        }
    }
}
