extension UVRunLoop {
    /// Ends the loop together with its thread, on that thread.
    ///
    /// Sources are told that they left, blocks that wait are dropped, handles are closed. From
    /// then on calls from any thread do nothing.
    func tearDown() {
        noteMainQueue()
        // Before all else that may wait, because what follows may wait for a thread that waits for this one.
        let requests = closeRequests()
        let now = remote.now
        let remains = withEngine { engine in
            let remains = engine.close()
            for timer in remains.timers { timer.didLeave(now: now) }
            return remains
        }
        anchor.detach()
        let blocks = closeBlocks()
        for record in remains.observers { record.observer.didLeave(self) }
        for record in remains.ports where record.port.link.didLeave(self) {
            record.port.link.receiver.loopDidEnd(record.port)
        }
        for (record, left) in remains.sources {
            record.source.didLeave(self)
            left.forEach { record.source.cancel?(self, $0) }
        }
        let driver = local.withValue { local in
            local.spareSources = []
            return local.driver.take()
        }
        driver?.close()
        home.doReleases()
        // Released last and here: a block's captures may use the loop, which accepts nothing any
        // more.
        withExtendedLifetime((blocks, requests)) {}
    }
}

extension UVRunLoop.Observer {
    fileprivate func didLeave(_ loop: UVRunLoop) {
        state.withLock { if $0.loop === loop { $0.loop = nil } }
    }
}

extension UVRunLoop.PortLink {
    fileprivate func didLeave(_ loop: UVRunLoop) -> Bool {
        state.withLock { state in
            guard state.loop === loop else { return false }
            state.loop = nil
            return true
        }
    }
}

extension UVRunLoop.Source {
    fileprivate func didLeave(_ loop: UVRunLoop) {
        state.withLock { $0.links.removeAll { $0.loop === loop } }
    }
}
