import UVRunLoop

/// A child process that was started, with its pipes.
struct RunningChild {
    typealias Event = UVRunLoop.ChildProcess.Event
    typealias Configuration = UVRunLoop.ChildProcess.Configuration

    /// How many events may wait before the pipes are read no further.
    static let capacity = 8

    let process: CInt
    let child: ChildHandle
    let input: PipeWriter?
    let output: PipeReader?
    let errorOutput: PipeReader?

    var handles: [LoopHandle] { [input, output, errorOutput].compactMap { $0 } }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - configuration: The program.
    ///   - inbox: Gets the events.
    /// - Throws: ``UVRunLoop/SystemError``; neither a process nor a descriptor is left then.
    init(
        _ configuration: Configuration,
        _ inbox: EventInbox<Event>
    ) throws(UVRunLoop.SystemError) {
        guard configuration.isValid else {
            throw UVRunLoop.SystemError(.spawn, .invalidArgument)
        }
        try attempt(.spawn) { () throws(UVError) in try ChildPipes.check(configuration) }
        let site = try LoopSite(.spawn)
        do {
            try self.init(configuration, inbox, in: site)
        } catch {
            throw UVRunLoop.SystemError(.spawn, error)
        }
    }

    private init(
        _ configuration: Configuration,
        _ inbox: EventInbox<Event>,
        in site: LoopSite
    ) throws(UVError) {
        var pipes = try ChildPipes(configuration)
        var opened: [LoopHandle] = []
        do {
            // First what can fail, so that a child that was started need not be killed.
            input = try Self.writer(pipes.takeOwnEnd(0), site, inbox)
            if let input { opened.append(input) }
            output = try Self.reader(pipes.takeOwnEnd(1), site, inbox, Event.output, .outputEnded)
            if let output { opened.append(output) }
            errorOutput = try Self.reader(
                pipes.takeOwnEnd(2),
                site,
                inbox,
                Event.errorOutput,
                .errorOutputEnded
            )
            if let errorOutput { opened.append(errorOutput) }
            (process, child) = try ChildLauncher.start(configuration, pipes.childEnds, in: site)
            pipes.close()
        } catch {
            for handle in opened { handle.close() }
            throw error
        }
    }

    private static func writer(
        _ end: consuming Descriptor?,
        _ site: LoopSite,
        _ inbox: EventInbox<Event>
    ) throws(UVError) -> PipeWriter? {
        guard let end else { return nil }
        return try PipeWriter(site, owning: end) { progress in
            inbox.change { events in
                let event = Event(progress)
                // One that waits tells as much.
                if events.last != event { events.append(event) }
            }
        }
    }

    private static func reader(
        _ end: consuming Descriptor?,
        _ site: LoopSite,
        _ inbox: EventInbox<Event>,
        _ bytes: @escaping @Sendable ([UInt8]) -> Event,
        _ ended: Event
    ) throws(UVError) -> PipeReader? {
        guard let end else { return nil }
        return try PipeReader(site, owning: end) {
            inbox.count < capacity
        } didRead: { chunk in
            switch chunk {
            case .bytes(let chunk): inbox.append(bytes(chunk))
            case .ended: inbox.append(ended)
            case .failed(let error):
                inbox.append(.failed(UVRunLoop.SystemError(.read, error)))
                inbox.append(ended)
            }
        }
    }
}

extension UVRunLoop.ChildProcess.Event {
    fileprivate init(_ progress: PipeWriter.Progress) {
        switch progress {
        case .drained: self = .inputDrained
        case .failed(let error): self = .inputFailed(error)
        }
    }
}
