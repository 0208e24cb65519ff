import UVRunLoop

extension UVRunLoop.MessagePort.Remote {
    /// How long a send or a wait may take unless it is told: ten seconds.
    public static let defaultLimit = Duration.seconds(10)

    /// Sends a message, and waits for the reply if a mode is given to wait in.
    ///
    /// Without a mode the call returns when the kernel has all of the message; the handler's answer
    /// is thrown away. With one, the calling thread's loop runs in that mode until the reply is
    /// there: sources and timers of the mode are served, others are not, and handlers may send over
    /// the same port. Each gets the reply to its own request; one that comes after its time
    /// is dropped. A ``UVRunLoop/stop()`` meanwhile does not end the wait but is passed on to the
    /// run around it.
    ///
    /// ``UVRunLoop/Thread/stop(afterQueuedWork:)`` of the calling thread ends the wait with
    /// ``UVRunLoop/MessagePortError/threadStopped`` when the queued work is given up. Otherwise the
    /// call is work that is finished first: it goes on without serving the mode, up to its limits.
    ///
    /// A message whose send limit passes while a part of it is out takes the connection with it:
    /// the port becomes invalid, because nothing could follow. The other side gets no part of it.
    /// So does one that is larger than the other side takes, with all who wait for replies.
    ///
    /// > Threading: Any thread. Blocks it, or runs its loop.
    ///
    /// - Parameters:
    ///   - id: What kind of message it is, as sender and receiver have agreed.
    ///   - data: The bytes.
    ///   - replyPort: A port of this process at which the receiver may answer later.
    ///   - sendLimit: How long to wait until the message is handed over; zero or less for not at
    ///     all.
    ///   - receiveLimit: How long to wait for the reply after that.
    ///   - replyMode: The mode to wait in; not ``UVRunLoop/Mode/common``. `nil` for no reply.
    /// - Returns: What the handler returned: `nil` for nothing, which is not the same as no bytes.
    ///   Without a reply mode, `nil`.
    /// - Throws: ``UVRunLoop/MessagePortError``.
    @available(*, noasync, message: "A send may keep its thread.")
    @discardableResult
    public func send(
        id: Int32 = 0,
        data: [UInt8],
        replyPort: UVRunLoop.MessagePort.Local? = nil,
        sendLimit: Duration = defaultLimit,
        receiveLimit: Duration = defaultLimit,
        replyMode: UVRunLoop.Mode? = nil
    ) throws(UVRunLoop.MessagePortError) -> [UInt8]? {
        guard data.count <= Int(UInt32.max) else { throw .messageTooLarge }
        let name = replyPort.map { Array($0.name.utf8) } ?? []
        let frame = Frame.message(id, data, replyName: name)
        guard let replyMode else {
            if let queued = try connection.beginSending(frame) {
                try finishSending(queued, until: sendLimit.fromNow)
            }
            return nil
        }
        require(
            replyMode != .common,
            "A reply is waited for in one mode, and .common is a set of modes. Name one of them."
        )
        let wait = ReplyWait(connection, try Self.currentLoop(), replyMode)
        return try wait.sendAndWait(frame, sendLimit: sendLimit, receiveLimit: receiveLimit)
    }

    private static func currentLoop() throws(UVRunLoop.MessagePortError) -> UVRunLoop {
        do throws(RunLoopError) {
            return try UVRunLoop.prepareCurrent()
        } catch {
            throw error.underlying.map(MessagePortError.init) ?? .noDescriptorsLeft
        }
    }

    /// Waits until a message is out, without a loop.
    private func finishSending(
        _ queued: FrameQueue.ID,
        until date: Int64
    ) throws(UVRunLoop.MessagePortError) {
        do throws(UVRunLoop.MessagePortError) {
            while try !connection.trySending(queued) {
                let isReady = try translating { () throws(UVError) in
                    try connection.socket.descriptor.wait(forWriting: true, until: date)
                }
                // A peer that talks all the time makes it ready at once, but for reading.
                if !isReady || monotonicNow() >= date { throw .sendTimedOut }
            }
        } catch {
            connection.withdraw(queued)
            throw error
        }
    }
}

/// One request, from the send to the reply, while the sender's loop runs.
struct ReplyWait {
    private let connection: RemoteConnection
    private let loop: UVRunLoop
    private let mode: UVRunLoop.Mode
    private let source: ReplySource

    init(_ connection: RemoteConnection, _ loop: UVRunLoop, _ mode: UVRunLoop.Mode) {
        self.connection = connection
        self.loop = loop
        self.mode = mode
        source = connection.replySource(for: loop)
    }

    func sendAndWait(
        _ frame: Frame,
        sendLimit: Duration,
        receiveLimit: Duration
    ) throws(MessagePortError) -> [UInt8]? {
        guard !loop.isEndedAtOnce else { throw .threadStopped }
        let (queued, number) = try connection.beginRequest(frame, source: source)
        source.beginWait(in: mode)
        var stops = 0
        var isOver = false
        defer {
            if !isOver { connection.removeRequest(number) }
            source.endWait(in: mode)
            if stops > 0 { loop.stop() }
        }
        if let queued { try finishSending(queued, until: sendLimit.fromNow, &stops) }
        let date = receiveLimit.fromNow
        while true {
            runOnce(until: date, &stops, forWriting: false)
            let (data, isThere) = try connection.takeOutcome(of: number)
            if isThere {
                isOver = true
                return data
            }
            if loop.isEndedAtOnce { throw .threadStopped }
            if monotonicNow() >= date { throw .receiveTimedOut }
        }
    }

    /// Waits until the request is out, while the loop runs.
    private func finishSending(
        _ queued: FrameQueue.ID,
        until date: Int64,
        _ stops: inout Int
    ) throws(MessagePortError) {
        let room = WritableSource(connection)
        loop.add(room, forMode: mode)
        defer { UVRunLoop.invalidate(room) }
        do throws(MessagePortError) {
            while try !connection.trySending(queued) {
                if loop.isEndedAtOnce { throw .threadStopped }
                if monotonicNow() >= date { throw .sendTimedOut }
                runOnce(until: date, &stops, forWriting: true)
            }
        } catch {
            connection.withdraw(queued)
            throw error
        }
    }

    /// Runs the loop until a source was handled, or waits without it where it cannot run.
    private func runOnce(until date: Int64, _ stops: inout Int, forWriting: Bool) {
        // A stop is for the run around this one. A loop that was ended for good is not run again.
        if source.link.isValid, stops == 0 || !loop.isStopping {
            switch loop.runUntilSourceHandled(in: mode, until: date) {
            case .stopped:
                stops += 1
                return
            case .finished: break
            default: return
            }
        }
        // Another thread may take the reply in, and cannot tell this one: look now and then.
        let nextCheck = min(date, Duration.milliseconds(10).fromNow)
        _ = try? connection.socket.descriptor.wait(forWriting: forWriting, until: nextCheck)
        connection.receive()
    }
}

/// Tells a loop that the socket has room, while a message waits for it.
private final class WritableSource: UVRunLoop.PortSource {
    let link: UVRunLoop.PortLink

    init(_ connection: RemoteConnection) {
        link = UVRunLoop.PortLink(
            descriptor: connection.socket.descriptor.number,
            events: .writable,
            order: 0,
            receiver: Receiver(connection)
        )
    }

    private final class Receiver: TypedPortReceiver {
        // Keeps the socket open while a loop watches it.
        private let connection: RemoteConnection

        init(_ connection: RemoteConnection) { self.connection = connection }

        func checkHome(is thread: ThreadIdentity) {}

        func receive(
            port: WritableSource,
            _ events: UVRunLoop.DescriptorSource.Events
        ) -> ServeResult {
            ServeResult(wasHandled: true)
        }

        func releaseHandler(in loop: UVRunLoop?) {}
    }
}
