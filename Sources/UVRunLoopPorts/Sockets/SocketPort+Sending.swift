import UVRunLoop

extension UVRunLoop.SocketPort {
    /// Sends bytes, in the order of the calls.
    ///
    /// What the socket takes goes out at once, unless something is queued already; the rest is
    /// queued and sent as the peer makes room. Bytes sent before the connection is there are
    /// queued. The call never waits.
    ///
    /// When the connection turns out to be broken, the port fails: its handler gets
    /// ``Event/failed(_:)`` in a later pass, after what the peer sent before. When the queue would
    /// become longer than ``maximumQueuedBytes``, it fails too, and nothing more is read.
    ///
    /// > Threading: Any thread. Traps for a listener.
    ///
    /// - Parameter bytes: What to send.
    /// - Returns: `false` when the bytes were dropped because the port is invalid, has failed, or
    ///   was told to send no more.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool { send(bytes[...]) }

    /// Sends part of an array, as ``send(_:)-([UInt8])`` does.
    ///
    /// > Threading: Any thread. Traps for a listener.
    ///
    /// - Parameter bytes: What to send.
    /// - Returns: `false` when the bytes were dropped because the port is invalid, has failed, or
    ///   was told to send no more.
    @discardableResult
    public func send(_ bytes: ArraySlice<UInt8>) -> Bool {
        settle(stream.state.withLock { $0.send(bytes) })
    }

    /// Sends any bytes, such as the `utf8` of a string, as ``send(_:)-([UInt8])`` does.
    ///
    /// > Threading: Any thread. Traps for a listener.
    ///
    /// - Parameter bytes: What to send.
    /// - Returns: `false` when the bytes were dropped because the port is invalid, has failed, or
    ///   was told to send no more.
    @_disfavoredOverload
    @discardableResult
    public func send(_ bytes: some Sequence<UInt8>) -> Bool { send(Array(bytes)) }

    /// Tells the peer that no more comes, when all that is queued is sent.
    ///
    /// Input goes on until the peer ends too (``Event/ended``); then the port is invalid by itself.
    /// Called before the connection is there, it takes effect when it is. If the peer has reset the
    /// connection, the port fails with ``UVRunLoop/SocketError/Code/connectionReset``.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public func endSending() {
        settle(stream.state.withLock { $0.endSending(closing: false) })
    }

    /// Closes the connection when all that is queued is sent; until then nothing more is read.
    ///
    /// With nothing queued the port is invalid when this returns. Called before the connection is
    /// there, it takes effect when it is. The connection is closed without a further event, unless
    /// it fails before.
    ///
    /// A ``UVRunLoop/Thread`` that is told to stop after its queued work sends the queue first, if
    /// the port is in its loop's default mode. Nothing limits how long the peer may take to read
    /// it. ``invalidate()`` ends the wait for one port, and
    /// ``UVRunLoop/Thread/stop(afterQueuedWork:)`` with `false` for all. The same goes for
    /// ``endSending()``, until the queue is sent.
    ///
    /// The system resets a TCP connection that is closed while something is unread, and the peer
    /// may lose what is under way to it. Where that matters, use ``endSending()`` and wait for
    /// ``Event/ended``.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public func invalidateWhenDrained() {
        settle(stream.state.withLock { $0.endSending(closing: true) })
    }

    /// Reads nothing until ``resumeReading()``, so that the peer has to wait in the end.
    ///
    /// That the peer has ended is not noticed meanwhile, but a broken connection may be.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public func pauseReading() {
        settle(stream.state.withLock { $0.setPaused(true) })
    }

    /// Reads on.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public func resumeReading() {
        settle(stream.state.withLock { $0.setPaused(false) })
    }

    // MARK: The queue

    /// How many bytes wait to be sent.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public var queuedBytes: Int { stream.state.withLock { $0.queue.count } }

    /// Whether the queue was longer than the high mark, and is not yet as short as the low mark.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public var isAboveHighMark: Bool { stream.state.withLock { $0.queue.isAboveHighMark } }

    /// The length of the queue beyond which senders had better wait; at first 64 KiB.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public var highMark: Int {
        get { stream.state.withLock { $0.queue.highMark } }
        set { stream.state.withLock { $0.queue.highMark = newValue } }
    }

    /// The length of the queue at which senders may go on (``Event/drained``); at first 32 KiB.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public var lowMark: Int {
        get { stream.state.withLock { $0.queue.lowMark } }
        set { stream.state.withLock { $0.queue.lowMark = newValue } }
    }

    /// The length of the queue that makes the port fail with
    /// ``UVRunLoop/SocketError/Code/queueOverflow`` when it would be passed; at first 64 MiB.
    ///
    /// The queue is dropped then, and a TCP connection is reset, so that the peer does not take
    /// what it has for all. The peer of a Unix-domain socket gets a reset only if something it sent
    /// is unread; otherwise it sees an end.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public var maximumQueuedBytes: Int {
        get { stream.state.withLock { $0.queue.capacity } }
        set { stream.state.withLock { $0.queue.capacity = newValue } }
    }

    private var stream: StreamReceiver {
        switch role {
        case .stream(let receiver): receiver
        case .listener:
            fail("A listener has no peer to send to or to read from. Use the ports it accepts.")
        }
    }

    /// Does what a change from outside calls for.
    @discardableResult
    private func settle(_ consequence: StreamState.Consequence) -> Bool {
        if consequence.asksAnew { askAnew() }
        if consequence.isOver {
            UVRunLoop.invalidate(self)
        } else if consequence.isReady {
            link.announce()
        }
        return consequence.wasAccepted
    }
}
