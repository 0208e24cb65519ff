extension UVRunLoop {
    /// Adds a port-based source to a mode.
    ///
    /// A source that is in the mode already, or invalid, is left alone, but one that was told of a
    /// hang-up is on again.
    ///
    /// > Threading: Any thread. Traps when the source belongs to another loop, or its handler to
    /// another thread.
    ///
    /// - Parameters:
    ///   - port: The source.
    ///   - mode: Where to add it; ``Mode/common`` adds it to every common mode, later ones
    ///     included.
    public func add(_ port: any PortSource, forMode mode: Mode) {
        let link = port.link
        link.receiver.checkHome(is: thread)
        link.state.withLock { state in
            guard link.validity.load(ordering: .acquiring) else { return }
            checkOwner(state.loop, "port-based source")
            let isReady = link.receiver.isReady
            withEngine { engine in
                guard !engine.isClosed else { return }
                if state.loop == nil {
                    state.ticket = engine.insert(ServedPort(port))
                    state.loop = self
                    if let events = state.events { engine.setEvents(events, of: state.ticket) }
                }
                engine.add(state.ticket, portTo: mode, isReady: isReady)
            }
        }
        watchesDidChange()
    }

    /// Removes a port-based source from a mode.
    ///
    /// It stays valid, and what was noted for it is not delivered.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - port: The source.
    ///   - mode: The mode to leave; ``Mode/common`` takes a source that was added to it out of
    ///     every common mode.
    public func remove(_ port: any PortSource, forMode mode: Mode) {
        let link = port.link
        let dropped = link.state.withLock { state -> PortRecord<LoopItems>? in
            guard state.loop === self else { return nil }
            let dropped = withEngine { $0.remove(state.ticket, portFrom: mode) }
            if dropped != nil { state.loop = nil }
            return dropped
        }
        if let dropped { unwatchDescriptor(of: dropped) }
        contentsDidChange()
    }

    /// Has the kernel forget a descriptor that the loop has no source for any more.
    func unwatchDescriptor(of record: PortRecord<LoopItems>) {
        guard let descriptor = record.descriptor else { return }
        remote.release(descriptor) {
            withEngine { $0.descriptors[descriptor] != nil }
        }
        // At once where that is possible: somebody may open another file, of the same number, for
        // a handle of libuv's.
        if isOnOwnThread { local.withValue(\.driver)?.forgetReleased() }
    }

    /// Whether a port-based source is in a mode, or was added to ``Mode/common`` and not removed
    /// from it.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - port: The source.
    ///   - mode: The mode.
    /// - Returns: `true` from the moment `add` has returned.
    public func contains(_ port: any PortSource, forMode mode: Mode) -> Bool {
        // One lock after the other: a ticket that is out of date finds nothing.
        let ticket = port.link.state.withLock { $0.loop === self ? $0.ticket : .none }
        return withEngine { $0.ports.contains(ticket, in: mode, of: $0.modes) }
    }
}
