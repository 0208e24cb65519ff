extension UVRunLoop: EndsWithThread {
    /// Ends the loop at thread exit, on the loop's own thread.
    ///
    /// Calls the sources' `cancel` handlers, drops queued blocks and closes the handles. Calls from
    /// any thread have no effect afterwards.
    func tearDown() {
        registerMainQueue()
        // First, because a later step may wait for a thread that waits for one of these requests.
        let requests = closeRequests()
        let remains = closeEngine()
        ThreadRecord.forget(location)
        identity.anchor.detach()
        let blocks = closeBlocks()
        notifyOfTheEnd(consume remains)
        checkProcess()
        let local = local.here
        local.isDriverClosed = true
        local.withDriver { $0.close() }
        endTracing()
        home.performReleases()
        // Here, after the driver was closed: a block's captures may call the loop, which accepts
        // nothing any more.
        _ = consume requests
        // Not `consume`, which the optimiser moves before the line above.
        withExtendedLifetime(blocks) {}
    }

    /// Has the items leave the loop, which accepts none from then on.
    private func closeEngine() -> Engine.Remains {
        let remains = withEngine { engine in
            let remains = engine.close()
            for timer in remains.timers { timer.owner.leave() }
            for record in remains.observers { record.observer.owner.leave() }
            for record in remains.ports {
                let link = record.port.link
                link.owner.leave(staysBusy: link.descriptor != nil)
            }
            return remains
        }
        // As in ``endLeaving(_:)``: a port whose descriptor the kernel may still watch stays busy.
        remote.releaseAll()
        for record in remains.ports where record.port.link.descriptor != nil {
            record.port.link.owner.leave()
        }
        return remains
    }

    /// Tells the items of the end of the loop; traps in a forked child, to which a handler or the
    /// end of captures may return.
    private func notifyOfTheEnd(_ remains: consuming Engine.Remains) {
        for timer in remains.timers where timer.traits.contains(.isCalledAtLoopEnd) {
            timer.fire()
            checkProcess()
        }
        for port in remains.ports.map(\.port) {
            port.link.receiver.loopDidEnd(port.object)
            checkProcess()
        }
        for (record, left) in remains.sources {
            record.source.state.withLock { state in
                state.links.removeAll { $0.loop === self }
                record.source.makeDue(.cancel, left, of: self, &state)
            }
            record.source.makeModeCalls()
            checkProcess()
        }
    }
}
