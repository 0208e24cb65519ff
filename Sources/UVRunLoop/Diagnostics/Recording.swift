/// Collects what the loops of the process do, and has a thread of its own write it.
final class Recording: LoopTracer {
    private struct State {
        /// By the loops' drivers, which are what a thread wakes.
        var tracks: [ObjectIdentifier: TraceTrack] = [:]
        /// Of loops that have ended; another loop may have the same driver's address by now.
        var endedTracks: [TraceTrack] = []
        var isOver = false
        /// Wake-ups, which any thread may send.
        var wakes: [(wake: TraceWake, target: String, span: TraceSpan)] = []
        var wakeCount = 0
        /// Wake-ups for which there was no room.
        var droppedWakes = 0
        var names: [Int32: String] = [:]
        /// Whether the opening of the file was written.
        var isOpened = false
        /// Whether a text could not be written.
        var hasFailed = false
        /// The number of lines that could not be written and that no line has reported yet.
        var lostLines = 0
    }

    private let file: TraceFile
    /// How many events of a loop, and how many wake-ups, may wait to be written.
    private let capacity: Int
    private let state = Guarded(State())
    private let thread = WorkerThread()

    private init(_ file: consuming TraceFile, _ capacity: Int) {
        self.file = file
        self.capacity = capacity
    }

    /// How long events wait to be written, in nanoseconds.
    private static let period: Int64 = 50_000_000

    /// Begins to record.
    static func begin(path: String, capacity: Int = 1 << 17) throws(RunLoopError) -> Recording {
        let file = try RunLoopError.translating(try TraceFile(path: path), of: .traceFile)
        let recording = Recording(file, capacity)
        try RunLoopError.translating(
            try recording.thread.start("recorder") { recording.writeAll() },
            of: .thread
        )
        LoopTracing.add(recording)
        _ = endsAtExit
        return recording
    }

    /// Has the recordings that have not ended do so when the program exits.
    ///
    /// A forked child has none: its parent writes the files.
    private static let endsAtExit: Void = ThisProcess.atExit {
        for case let recording as Recording in LoopTracing.tracers { recording.end() }
    }

    /// Ends, and returns when everything is written.
    func end() {
        guard thread.isOfThisProcess else { return }
        LoopTracing.remove(self)
        thread.end()
        // A loop keeps its track until it notices the change, and the track the loop.
        let tracks = state.withLock { state in
            state.isOver = true
            return exchange(&state.tracks, with: [:])
        }
        for track in tracks.values { track.end() }
    }

    // MARK: The loops

    func beginTracing(_ loop: UVRunLoop) -> (any LoopTrack)? {
        let track = TraceTrack(loop, capacity: capacity)
        return state.withLock { state in
            guard !state.isOver else { return nil }
            state.tracks[ObjectIdentifier(loop.remote)] = track
            return track
        }
    }

    func loopDidEnd(_ loop: UVRunLoop) {
        let track = state.withLock { state in
            let track = state.tracks.removeValue(forKey: ObjectIdentifier(loop.remote))
            if let track { state.endedTracks.append(track) }
            return track
        }
        track?.end()
    }

    func willWake(_ remote: any LoopRemote, at time: Int64) {
        let (thread, name) = (ThisProcess.currentThread, Self.currentName)
        let (track, wake) = state.withLock { state -> (TraceTrack?, TraceWake) in
            state.wakeCount += 1
            let wake = TraceWake(number: state.wakeCount, sender: thread, senderName: name)
            return (state.tracks[ObjectIdentifier(remote)], wake)
        }
        guard let track else { return }
        track.willBeWoken(wake)
        let target = track.name
        state.withLock { state in
            if state.wakes.count < capacity {
                state.wakes.append((wake, target, TraceSpan(began: time, ended: time)))
            } else {
                state.droppedWakes += 1
            }
        }
    }

    func didWake(_ remote: any LoopRemote, from began: Int64, until ended: Int64) {
        let thread = ThisProcess.currentThread
        state.withLock { state in
            // The list is full, and this one may have been left out of it.
            guard state.wakes.count < capacity else { return }
            let last = state.wakes.lastIndex {
                $0.wake.sender == thread && $0.span.began == began
            }
            if let last { state.wakes[last].span = TraceSpan(began: began, ended: ended) }
        }
    }

    /// The calling thread's name in the timeline.
    private static var currentName: String {
        ThreadRecord.withCurrentLoop { $0?.trackName }
            ?? ThisProcess.currentThreadName
    }

    // MARK: The recorder's thread

    private func writeAll() {
        var format = TraceFormat(process: ThisProcess.number)
        format.name(ofProcess: Self.processName)
        write(format.takeText())
        var isEnding = false
        while !isEnding {
            isEnding = thread.awaitEnd(until: monotonicNow() + Self.period)
            if isEnding { closeRuns() }
            write(&format)
        }
        write(format.takeClosing(processName: Self.processName))
        file.close()
    }

    private static var processName: String {
        let path = CommandLine.arguments.first ?? ""
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    private func closeRuns() {
        let now = monotonicNow()
        for track in state.withLock({ Array($0.tracks.values) }) { track.closeRuns(at: now) }
    }

    private func write(_ format: inout TraceFormat) {
        let (tracks, wakes) = state.withLock { state in
            let ended = exchange(&state.endedTracks, with: [])
            return (ended + state.tracks.values, exchange(&state.wakes, with: []))
        }
        for track in tracks { write(track, &format) }
        for (wake, target, span) in wakes {
            name(wake.sender, wake.senderName, &format)
            format.append(.wake(wake, target: target, span), on: wake.sender)
        }
        let (dropped, lost) = state.withLock { state in
            (exchange(&state.droppedWakes, with: 0), state.lostLines)
        }
        if dropped > 0 { append("\(dropped) wake-ups were dropped", &format) }
        if lost > 0 { append("\(lost) lines of the timeline could not be written", &format) }
        let text = format.takeText()
        if !text.isEmpty { write(text, reporting: lost) }
    }

    private func append(_ sentence: String, _ format: inout TraceFormat) {
        format.append(.moment(sentence, at: monotonicNow()), on: ThisProcess.currentThread)
    }

    private func write(_ track: TraceTrack, _ format: inout TraceFormat) {
        name(track.thread, track.name, &format)
        for entry in track.take() { format.append(entry, on: track.thread) }
        // Another thread may get the number.
        if track.hasEnded { state.withLock { $0.names[track.thread] = nil } }
    }

    /// Writes whole lines, or none of them, behind the opening of the file.
    ///
    /// - Parameters:
    ///   - text: The lines.
    ///   - lost: How many lost lines they report.
    private func write(_ text: String, reporting lost: Int = 0) {
        let opening = state.withLock { $0.isOpened ? "" : TraceFormat.opening }
        do throws(UVError) {
            try file.write(opening + text)
            state.withLock { state in
                state.isOpened = true
                state.lostLines -= lost
            }
        } catch {
            let isFirst = state.withLock { state in
                // The names of threads may be among what is lost.
                state.names = [:]
                state.lostLines += text.utf8.count { $0 == UInt8(ascii: "\n") }
                return exchange(&state.hasFailed, with: true) == false
            }
            if isFirst { file.reportFailure(error) }
        }
    }

    /// Writes the name of a thread, unless it is written already.
    private func name(_ thread: Int32, _ name: String, _ format: inout TraceFormat) {
        let isKnown = state.withLock { exchange(&$0.names[thread], with: name) == name }
        if !isKnown { format.name(of: thread, name) }
    }
}
