extension UVRunLoop {
    // Steps 5 and 9 for ports.

    /// Delivers one event of one port.
    ///
    /// - Returns: Whether the port handled it.
    @inline(__always)
    func serve(_ delivery: borrowing Engine.Delivery, _ run: inout Run) -> Bool {
        let isFinal = delivery.refusal != nil && !delivery.port.link.receiver.outlivesRefusal
        if isFinal { Self.invalidateKeepingHandler(delivery.port.link) }
        let result = LoopTracing.isOn ? callTraced(delivery, &run) : call(delivery, &run)
        userCodeMayHaveRun(&run)
        if isFinal {
            delivery.port.link.receiver.releaseHandler()
            userCodeMayHaveRun(&run)
        }
        let (ticket, hasMore) = (delivery.ticket, result.hasMore)
        let isStillInLoop = contents.withEngine { $0.endCall(of: ticket, hasMore: hasMore) }
        if !isStillInLoop { delivery.port.link.endCallElsewhere(hasMore: hasMore) }
        return result.wasHandled
    }

    @inline(__always)
    func call(_ delivery: borrowing Engine.Delivery, _ run: inout Run) -> ServeResult {
        delivery.port.link.mayBlockSenders
            ? callOutReleasingSenders(delivery, &run) : callOut(delivery, &run)
    }

    /// Calls a port whose senders may wait for room; a run nested in the call lets them go on.
    private func callOutReleasingSenders(
        _ delivery: borrowing Engine.Delivery,
        _ run: inout Run
    ) -> ServeResult {
        let local = run.local
        let outerReceiver = local.receiverBeingCalled
        local.receiverBeingCalled = delivery.port.link.receiver
        defer { local.receiverBeingCalled = outerReceiver }
        return callOut(delivery, &run)
    }

    /// Calls a port, and again while it has more events and a full pass would serve nothing else.
    private func callOut(_ delivery: borrowing Engine.Delivery, _ run: inout Run) -> ServeResult {
        var result = delivery.port.link.callOut(
            delivery.port.object,
            delivery.events,
            delivery.refusal
        )
        guard result.hasMore, var direct = directDelivery(&run) else {
            return result
        }
        // Whether they were handled, nobody asks: such a run does not return after a source.
        result.hasMore = delivery.port.link.callOutForMore(delivery.port.object) {
            skipPass(&direct)
        }
        run.reusablePoll = direct.poll
        return result
    }
}

extension UVRunLoop.PortLink {
    /// Calls the port's receiver with an event, or with a refusal.
    ///
    /// Never inlined, so that backtraces and profiles show the callout.
    @inline(never)
    fileprivate func callOut(
        _ port: any AnyObject & Sendable,
        _ events: UVRunLoop.DescriptorEvents,
        _ refusal: UVError?
    ) -> ServeResult {
        if let refusal { return receiver.receive(port, refusal: refusal) }
        return receiver.receive(port, events)
    }

    /// Calls the port's receiver for further events while nothing else is to be served.
    ///
    /// Never inlined, so that backtraces and profiles show the callout.
    @inline(never)
    fileprivate func callOutForMore(
        _ port: any AnyObject & Sendable,
        while mayGoOn: () -> Bool
    ) -> Bool {
        receiver.receiveMore(port, while: mayGoOn)
    }

    /// Ends a call during which the port left its loop.
    ///
    /// It may be in another loop by now, or in this one again, where it is not served until its
    /// call has ended.
    fileprivate func endCallElsewhere(hasMore: Bool) {
        owner.withLock { _, engine in
            _ = engine.endCall(of: ticket.value, hasMore: hasMore)
        } nowhere: {
            isBeingCalled = false
        } afterwards: { loop in
            loop.portDidAnnounce()
        }
    }
}
