extension UVRunLoop {
    // Requests are one input source of the loop, of order 0. It is in exactly the modes that have
    // queued requests, and signalled while there are any. Lock order: the queue's lock, then the
    // source's, then the engine's.

    // MARK: In

    /// Queues a request; returns `nil` if the loop has ended.
    func enqueue(_ content: PerformQueue.Content) -> Ticket? {
        checkProcess()
        let (ticket, hasJoined) = performQueue.withLock { queue -> (Ticket?, Bool) in
            guard !queue.isClosed else { return (nil, false) }
            let (ticket, joined) = queue.insert(content)
            if !joined.isEmpty { join(joined, &queue) }
            return (ticket, !joined.isEmpty)
        }
        // If a request was queued already, the loop has been woken for it.
        if hasJoined { contentsDidChange() }
        return ticket
    }

    private func join(_ modes: [Mode], _ queue: inout PerformQueue) {
        let source = queue.source ?? makeRequestSource()
        queue.source = source
        source.signal()
        // The engine keeps the source until the end of the loop, in whatever modes it is.
        source.state.withLock { state in
            for mode in modes { _ = join(mode, source, &state) }
        }
    }

    private func makeRequestSource() -> Source {
        // Only the loop itself calls it. A weak reference would make every use of the loop slower.
        let source = Source(sendablePerform: { [unowned self] _ in performRequests() })
        // It joins its modes without being added.
        source.useMark.dismiss()
        return source
    }

    // MARK: Out

    /// Removes the source from modes that have no more requests.
    private func leave(_ modes: [Mode], _ queue: inout PerformQueue) {
        guard !modes.isEmpty, let source = queue.source else { return }
        source.state.withLock { state in
            guard let ticket = state.links.first?.ticket else { return }
            withEngine { engine in
                // A common mode may be named by one request and covered by another that names
                // `.common`: it must keep the source until both are done.
                engine.remove(ticket, sourceFrom: modes) { queue.holdsRequest(for: $0) }
            }
        }
        if queue.count == 0, source.isSignalled { _ = source.takeSignal() }
    }

    /// Performs every request that is queued for the mode now, in order; later ones wait for the
    /// next pass.
    private func performRequests() {
        guard let index = local.here.modeIndex else { return }
        let (mode, isCommon) = withEngine { ($0.modes[index].mode, $0.modes[index].isCommon) }
        let limit = performQueue.withLock { $0.serial }
        var hadRequest = false
        // One by one, so that a request may cancel later ones, and a run nested in it may perform
        // them.
        while !isEndedAtOnce,
            let content = takeRequest(for: mode, isCommon: isCommon, upTo: limit)
        {
            hadRequest = true
            calling(.block) { callOutToRequest(content.body) }
            checkProcess()
            if let waiter = content.waiter { performQueue.withLock { $0.didPerform(waiter) } }
        }
        // Another thread may have cancelled the only one since the source's signal was taken.
        if !hadRequest { local.here.callHandledNothing = true }
        // A loop that was ended performs no more; signalled again, the source would be taken again.
        guard !isEndedAtOnce else { return }
        performQueue.withLock { if $0.count > 0 { $0.source?.signal() } }
    }

    private func takeRequest(
        for mode: Mode,
        isCommon: Bool,
        upTo limit: UInt64
    ) -> PerformQueue.Content? {
        performQueue.withLock { queue in
            let taken = queue.takeNext(for: mode, isCommon: isCommon, upTo: limit)
            guard let taken else { return nil }
            leave(taken.left, &queue)
            if queue.count > 0 { queue.source?.signal() }
            return taken.request.content
        }
    }

    // MARK: Cancelling

    func holdsRequest(_ ticket: Ticket) -> Bool {
        checkProcess()
        return performQueue.withLock { $0.holds(ticket) }
    }

    /// Cancels requests that are still waiting; returns how many there were.
    func cancelRequests(_ tickets: [Ticket]) -> Int {
        let cancelled = takeRequests(tickets)
        for taken in cancelled { drop(taken.request, .cancelled) }
        return cancelled.count
    }

    /// Removes a request for which nobody waits any longer, if it has not begun.
    func withdrawRequest(_ ticket: Ticket) { _ = takeRequests([ticket]) }

    /// Takes requests that are still waiting out of the queue.
    private func takeRequests(_ tickets: [Ticket]) -> [PerformQueue.Removed] {
        checkProcess()
        let requests = performQueue.withLock { queue -> [PerformQueue.Removed] in
            tickets.compactMap { ticket in
                guard let taken = queue.remove(ticket) else { return nil }
                leave(taken.left, &queue)
                return taken
            }
        }
        if requests.contains(where: { !$0.left.isEmpty }) { contentsDidChange() }
        return requests
    }

    private func drop(_ request: PerformQueue.Request, _ reason: PerformError) {
        request.timer?.invalidate()
        request.content.waiter?.giveUp(reason)
    }

    /// Ends all requests at the end of the loop.
    ///
    /// - Returns: The requests and their source, to be released when the loop accepts nothing any
    ///   more.
    func closeRequests() -> [any Sendable] {
        let (requests, performing, source) = performQueue.withLock { $0.close() }
        for waiter in performing { waiter.giveUp(.threadEnded) }
        for request in requests { drop(request, .threadEnded) }
        return requests + (source.map { [$0] } ?? [])
    }

    // MARK: After a delay

    /// Stores a request until a timer of the loop fires; returns `nil` if the loop has ended.
    func enqueue(_ content: PerformQueue.Content, after delay: Duration) -> Ticket? {
        checkProcess()
        // Passes are only meaningful on the loop's own thread.
        let hasPass = delay <= .zero && isOnOwnThread
        let pass = hasPass ? local.here.passCount : nil
        let date = time(after: delay)
        let queued = performQueue.withLock { queue -> (ticket: Ticket, timer: Timer)? in
            guard !queue.isClosed else { return nil }
            return queue.insert(content, after: pass) { ticket in
                Timer(date: date) { [unowned self] in performDelayedRequest(ticket, $0) }
            }
        }
        guard let queued else { return nil }
        for mode in content.modes { add(queued.timer, forMode: mode) }
        return queued.ticket
    }

    private func performDelayedRequest(_ ticket: Ticket, _ timer: Timer) {
        // The last pass may have more of them to call: what is left is told at the end.
        guard !isEndedAtOnce else { return local.here.callHandledNothing = true }
        let pass = local.here.pass
        let (content, isForLaterPass) = performQueue.withLock {
            queue -> (PerformQueue.Content?, Bool) in
            guard let request = queue[ticket], let since = request.since, pass <= since else {
                return (queue.remove(ticket)?.request.content, false)
            }
            return (nil, true)
        }
        if let content { return calling(.block) { callOutToRequest(content.body) } }
        guard isForLaterPass else { return }
        timer.postpone()
        local.here.callHandledNothing = true
    }
}

/// Calls the block of a request.
///
/// Never inlined, so that backtraces and profiles show the callout.
@inline(never)
private func callOutToRequest(_ body: Block) { body() }
