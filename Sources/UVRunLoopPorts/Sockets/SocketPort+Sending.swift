import UVRunLoop

extension UVRunLoop.SocketPort {
    /// Sends bytes, in the order of the calls.
    ///
    /// As much as the socket accepts is sent at once, unless bytes are queued already; the rest is
    /// queued and sent when the socket is writable. Before the connection is established, all bytes
    /// are queued. The call never blocks.
    ///
    /// If the connection is broken, the port fails: its handler gets ``Event/failed(_:)`` in a
    /// later pass, after the bytes that the peer sent before. If the queue would exceed
    /// ``maximumQueuedBytes``, the port fails too, and nothing more is read.
    ///
    /// > Threading: Any thread. Traps for a listener.
    ///
    /// - Parameter bytes: The bytes.
    /// - Returns: `false` if the bytes were dropped, because the port is invalid, has failed, or
    ///   has ended sending.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool { send(bytes[...]) }

    /// Sends a slice, as ``send(_:)-([UInt8])`` does.
    ///
    /// > Threading: Any thread. Traps for a listener.
    ///
    /// - Parameter bytes: The bytes.
    /// - Returns: `false` if the bytes were dropped, because the port is invalid, has failed, or
    ///   has ended sending.
    @discardableResult
    public func send(_ bytes: ArraySlice<UInt8>) -> Bool {
        apply(stream.state.withLock { $0.send(bytes) })
    }

    /// Sends a sequence of bytes, such as the `utf8` of a string, as ``send(_:)-([UInt8])`` does.
    ///
    /// > Threading: Any thread. Traps for a listener.
    ///
    /// - Parameter bytes: The bytes.
    /// - Returns: `false` if the bytes were dropped, because the port is invalid, has failed, or
    ///   has ended sending.
    @_disfavoredOverload
    @discardableResult
    public func send(_ bytes: some Sequence<UInt8>) -> Bool { send(Array(bytes)) }

    /// Shuts down the sending side once the queue is sent.
    ///
    /// The port still receives, until the peer ends too (``Event/ended``); then it becomes invalid.
    /// Called before the connection is established, it takes effect afterwards. If the peer has
    /// reset the connection, the port fails with ``UVRunLoop/SocketError/Code/connectionReset``.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public func endSending() {
        apply(stream.state.withLock { $0.endSending(closing: false) })
    }

    /// Closes the connection once the queue is sent; until then nothing more is read.
    ///
    /// If the queue is empty, the port is invalid when this returns. Called before the connection
    /// is established, it takes effect afterwards. Until it is closed, the handler may still get
    /// ``Event/connected``, ``Event/drained`` and, as the last event, ``Event/failed(_:)``, but
    /// neither ``Event/received(_:)`` nor ``Event/ended``. That the connection is closed is no
    /// event.
    ///
    /// A ``UVRunLoop/Thread`` that is told to stop after its queued work sends the queue first, if
    /// the port is in its loop's default mode. There is no limit on how long the peer may take to
    /// read it. ``invalidate()`` ends the wait for one port, and
    /// ``UVRunLoop/Thread/stop(afterQueuedWork:)`` with `false` for all. The same holds for
    /// ``endSending()``, until the queue is sent.
    ///
    /// The system resets a TCP connection that is closed with unread input, and the peer may lose
    /// bytes in flight. To avoid that, use ``endSending()`` and wait for ``Event/ended``.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public func invalidateWhenDrained() {
        apply(stream.state.withLock { $0.endSending(closing: true) })
    }

    /// Stops reading until ``resumeReading()``, which eventually blocks the peer's sends.
    ///
    /// The end of the peer's data is not noticed meanwhile. A broken connection may be: the port
    /// fails then, but not before the bytes that it has received were read.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public func pauseReading() {
        apply(stream.state.withLock { $0.setPaused(true) })
    }

    /// Resumes reading.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public func resumeReading() {
        apply(stream.state.withLock { $0.setPaused(false) })
    }

    // MARK: The send queue

    /// The number of queued bytes.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public var queuedBytes: Int { stream.state.withLock { $0.queue.count } }

    /// Whether the queue was longer than the high mark, and is not yet as short as the low mark.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public var isAboveHighMark: Bool { stream.state.withLock { $0.queue.isAboveHighMark } }

    /// The queue length above which senders should pause; initially 64 KiB.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public var highMark: Int {
        get { stream.state.withLock { $0.queue.highMark } }
        set { stream.state.withLock { $0.queue.highMark = newValue } }
    }

    /// The queue length at which senders may resume (``Event/drained``); initially 32 KiB.
    ///
    /// If the queue is as short as a new mark, ``isAboveHighMark`` becomes `false` and
    /// ``drained(isolation:)`` returns at once; ``Event/drained`` follows when bytes are sent. A
    /// mark below zero counts as zero.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public var lowMark: Int {
        get { stream.state.withLock { $0.queue.lowMark } }
        set { apply(stream.state.withLock { $0.setLowMark(newValue) }) }
    }

    /// The queue length above which the port fails with
    /// ``UVRunLoop/SocketError/Code/queueOverflow``; initially 64 MiB.
    ///
    /// The queue is then dropped and a TCP connection is reset, so that the peer does not mistake
    /// partial data for all of it. The peer of a Unix-domain socket gets a reset only if this side
    /// has unread input; otherwise it sees an end.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public var maximumQueuedBytes: Int {
        get { stream.state.withLock { $0.queue.capacity } }
        set { stream.state.withLock { $0.queue.capacity = newValue } }
    }

    var stream: StreamReceiver {
        switch role {
        case .stream(let receiver):
            // A forked child shares the connection with its parent, whose loop serves it.
            link.checkProcess()
            return receiver
        case .listener:
            fail("A listener has no peer to send to or to read from. Use the ports it accepts.")
        }
    }

    /// Does, without the lock, what a change to the state requires.
    @discardableResult
    func apply(_ followUp: StreamState.FollowUp) -> Bool {
        if followUp.interestChanged { updateInterest() }
        if followUp.isOver, stream.mayBecomeInvalid {
            UVRunLoop.invalidate(self)
        } else if followUp.isReady {
            link.announce()
        }
        _ = followUp.resumptions.perform()
        return followUp.wasAccepted
    }
}
