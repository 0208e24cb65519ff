import UVRunLoop

extension UVRunLoop.MessagePort.Remote {
    /// The default limit of a send or a wait: ten seconds.
    public static let defaultLimit = Duration.seconds(10)

    /// Sends a message, and waits for the reply if a reply mode is given.
    ///
    /// Without a reply mode the call returns once the kernel has accepted the whole message; the
    /// handler's result is dropped. With one, the calling thread's loop runs in that mode until the
    /// reply arrives: sources and timers of the mode are served, others are not. Handlers may send
    /// over the same port; each call gets the reply to its own request, and a late reply is
    /// dropped. A ``UVRunLoop/stop()`` meanwhile does not end the wait; it applies to the run
    /// around it.
    ///
    /// ``UVRunLoop/Thread/stop(afterQueuedWork:)`` with `false` for the calling thread ends the
    /// wait with ``UVRunLoop/MessagePortError/threadStopped``. With `true` the call counts as
    /// queued work: it goes on without serving the mode, up to its limits.
    ///
    /// In a task, the call ends within 20 ms after the task is cancelled, with
    /// ``UVRunLoop/MessagePortError/cancelled``. A message of which nothing was sent is withdrawn;
    /// the rest of another is still sent, up to the send limit, and the port stays usable.
    ///
    /// If the send limit passes after a part of the message was sent, the port becomes invalid,
    /// because no other message could follow; the other side drops the part. A message that is too
    /// large for the other side also makes the port invalid, for all senders that wait for a reply.
    ///
    /// > Threading: Any thread. Blocks it, or runs its loop.
    ///
    /// - Parameters:
    ///   - id: The message's id, as agreed with the receiver.
    ///   - data: The message's data.
    ///   - replyPort: A port of this process for later replies.
    ///   - sendLimit: How long to wait until the message is sent; zero or less does not wait.
    ///   - receiveLimit: How long to wait for the reply after that.
    ///   - replyMode: The mode to wait in; not ``UVRunLoop/Mode/common``. `nil` for no reply.
    /// - Returns: The handler's result; `nil` is a reply without data, which differs from empty
    ///   data. Without a reply mode, `nil`.
    /// - Throws: ``UVRunLoop/MessagePortError``.
    @available(*, noasync, message: "A send may block its thread. Await request(_:).")
    @discardableResult
    public func send(
        id: Int32 = 0,
        data: [UInt8],
        replyPort: UVRunLoop.MessagePort.Local? = nil,
        sendLimit: Duration = defaultLimit,
        receiveLimit: Duration = defaultLimit,
        replyMode: UVRunLoop.Mode? = nil
    ) throws(UVRunLoop.MessagePortError) -> [UInt8]? {
        guard data.count <= Frame.largestPayload else { throw .messageTooLarge }
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
            "A reply is awaited in a single mode, and .common is a set of modes. Pass one of them."
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

    /// Blocks until a message is sent, without a loop.
    private func finishSending(
        _ queued: FrameQueue.ID,
        until date: Int64
    ) throws(UVRunLoop.MessagePortError) {
        var isLate = false
        do throws(UVRunLoop.MessagePortError) {
            while try !connection.trySending(queued, isLate: isLate) {
                if Task.isCancelled { throw .cancelled }
                if monotonicNow() >= date { return try connection.expire(queued) }
                // Another sender may send the message, and then fill the socket again.
                let check = min(date, Duration.milliseconds(10).fromNow)
                connection.socket?.descriptor.wait(forWriting: true, until: check)
                isLate = monotonicNow() >= date
            }
        } catch {
            connection.giveUp(queued, until: date, error)
            throw error
        }
    }
}

/// One request, from sending it to its reply, while the sender's loop runs.
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
        let (queued, number) = try connection.beginRequest(frame, from: .thread(source))
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
        // A run that a handler nests in the wait may receive the reply.
        let condition = { [connection] in connection.hasOutcome(of: number) }
        while true {
            let check = CurrentTask.nextCheck(before: date)
            runOnce(until: check, or: condition, &stops, forWriting: false)
            let isLate = monotonicNow() >= date
            // A reply that has arrived counts, though no pass has come to it.
            if isLate { connection.receiveAll() }
            let (data, isThere) = try connection.takeOutcome(of: number)
            if isThere {
                isOver = true
                return data
            }
            if loop.isEndedAtOnce { throw .threadStopped }
            if Task.isCancelled { throw .cancelled }
            if isLate { throw .receiveTimedOut }
        }
    }

    /// Runs the loop until the request is sent.
    ///
    /// - Parameters:
    ///   - queued: The request.
    ///   - date: Until when, in nanoseconds of the monotonic clock.
    ///   - stops: Counts the stops, for the run around the wait.
    /// - Throws: An error, unless the request was sent.
    private func finishSending(
        _ queued: FrameQueue.ID,
        until date: Int64,
        _ stops: inout Int
    ) throws(MessagePortError) {
        // A run that a handler nests in the wait may come to it, and must not find it ready for ever.
        let room = ConnectionSource(connection, .writable) { [connection] source in
            if (try? connection.trySending(queued)) != false { source.link.setEvents { [] } }
        }
        loop.add(room, forMode: mode)
        connection.announce(room.link, whenSent: queued)
        defer {
            connection.forget(room.link, of: queued)
            UVRunLoop.invalidate(room)
        }
        // A run that a handler nests in the wait may be served the announcement.
        let condition = { [connection] in !connection.isQueued(queued) }
        var isLate = false
        do throws(MessagePortError) {
            while try !connection.trySending(queued, isLate: isLate) {
                if loop.isEndedAtOnce { throw .threadStopped }
                if Task.isCancelled { throw .cancelled }
                if monotonicNow() >= date { return try connection.expire(queued) }
                let check = CurrentTask.nextCheck(before: date)
                runOnce(until: check, or: condition, &stops, forWriting: true)
                isLate = monotonicNow() >= date
            }
        } catch {
            connection.giveUp(queued, until: date, error)
            throw error
        }
    }

    /// Runs the loop until a source was handled or a condition is met, or blocks without it if it
    /// cannot run.
    private func runOnce(
        until date: Int64,
        or condition: @escaping EndCondition,
        _ stops: inout Int,
        forWriting: Bool
    ) {
        let nextCheck = min(date, Duration.milliseconds(10).fromNow)
        let isWatched = source.link.isValid
        // A stop applies to the run around this one. A loop that was stopped for good is not run
        // again.
        if stops == 0 || !loop.isStopping {
            let date = isWatched ? date : nextCheck
            switch loop.runUntilSourceHandled(in: mode, until: date, or: condition) {
            case .stopped:
                stops += 1
                return
            case .finished: break
            default:
                // The kernel has refused to watch the connection.
                if !isWatched { connection.receive() }
                return
            }
        }
        // Another thread may read the reply without notifying this one, so check regularly.
        connection.socket?.descriptor.wait(forWriting: forWriting, until: nextCheck)
        connection.receive()
    }
}
