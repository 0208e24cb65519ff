import UVRunLoop

/// Requests that are given up, to which the other side may still reply.
extension RemoteConnection {
    /// Removes a request for whose reply nobody waits, unless it was withdrawn, or has ended.
    ///
    /// It was sent, or its rest will be: a late reply is read and dropped, because the other side
    /// reads nothing else before it has sent that.
    ///
    /// - Returns: Whether it was there, without an outcome.
    @discardableResult
    func removeRequest(_ number: UInt64) -> Bool {
        let (wasOpen, mustRead) = state.withLock { state in
            guard state.remove(number) else { return (false, false) }
            guard state.end == nil else { return (true, false) }
            state.lateReplies += 1
            return (true, !exchange(&state.isReadingLateReplies, with: true))
        }
        if mustRead { readLateReplies() }
        return wasOpen
    }

    /// Reads the replies to requests that were given up, on the thread for replies.
    ///
    /// Nobody else may read them: the thread that gave a request up need not run its loop again.
    private func readLateReplies() {
        guard let loop = try? ReplyThread.loop() else {
            // There can be no thread; the next request that is given up tries again.
            return state.withLock { $0.isReadingLateReplies = false }
        }
        let source = ConnectionSource(self, .readable) { [self] source in
            receive()
            if endLateReading() { UVRunLoop.invalidate(source) }
        }
        loop.add(source, forMode: .common)
        // The replies may have been read meanwhile.
        source.link.announce()
    }

    /// Ends the reading of late replies, if there are none to come; returns whether it has ended.
    func endLateReading() -> Bool {
        state.withLock { state in
            if state.lateReplies == 0 { state.isReadingLateReplies = false }
            return state.lateReplies == 0
        }
    }
}
