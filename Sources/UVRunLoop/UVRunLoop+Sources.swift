extension UVRunLoop {
    // MARK: Custom sources

    /// Adds a custom source to a mode, and calls its `schedule` handler for every mode it joins.
    ///
    /// A source that is in the mode already, or invalid, is left alone. From another thread,
    /// adding a source wakes the loop.
    ///
    /// > Threading: Any thread. Traps when the source's perform handler belongs to another thread.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - mode: Where to add it; ``Mode/common`` adds it to every common mode, later ones
    ///     included.
    public func add(_ source: Source, forMode mode: Mode) {
        source.handler.checkHome(is: thread)
        let joined = source.state.withLock { state -> [Mode] in
            guard state.isValid else { return [] }
            let known = state.links.first { $0.loop === self }?.ticket
            let signal = state.signal
            let (ticket, joined) = withEngine { engine -> (Ticket?, [Mode]) in
                guard !engine.isClosed else { return (nil, []) }
                let ticket = known ?? engine.sources.insert(SourceRecord(source: source))
                return (ticket, engine.add(ticket, sourceTo: mode, signal: signal))
            }
            if known == nil, let ticket {
                state.links.append(Source.Link(loop: self, ticket: ticket))
            }
            return joined
        }
        joined.forEach { source.schedule?(self, $0) }
        if !joined.isEmpty, !isOnOwnThread { wakeUp() }
    }

    /// Removes a custom source from a mode, and calls its `cancel` handler for every mode it
    /// leaves.
    ///
    /// The source stays valid and keeps its signal. If it is among those about to fire in the
    /// present pass, it still does.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - mode: The mode to leave; ``Mode/common`` takes a source that was added to it out of
    ///     every common mode.
    public func remove(_ source: Source, forMode mode: Mode) {
        let (left, dropped) = source.state.withLock { state -> ([Mode], SourceRecord?) in
            guard let index = state.links.firstIndex(where: { $0.loop === self }) else {
                return ([], nil)
            }
            let ticket = state.links[index].ticket
            let (left, dropped) = withEngine { engine -> ([Mode], SourceRecord?) in
                engine.noteChange()
                let indices = engine.sources.remove(ticket, from: mode, in: &engine.modes)
                let left = engine.modes.names(of: indices)
                let dropped = engine.sources.dropIfUnused(ticket)
                if let dropped { engine.didDrop(dropped) }
                return (left, dropped)
            }
            if dropped != nil { state.links.remove(at: index) }
            return (left, dropped)
        }
        left.forEach { source.cancel?(self, $0) }
        contentsDidChange()
        withExtendedLifetime(dropped) {}
    }

    /// Whether a custom source is in a mode, or was added to ``Mode/common`` and not removed from
    /// it.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - mode: The mode.
    /// - Returns: `true` from the moment `add` has returned.
    public func contains(_ source: Source, forMode mode: Mode) -> Bool {
        source.state.withLock { state in
            guard let ticket = state.links.first(where: { $0.loop === self })?.ticket else {
                return false
            }
            return withEngine { $0.sources.contains(ticket, in: mode, of: $0.modes) }
        }
    }

    // MARK: Port-based sources

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
        link.checkHome(thread)
        link.state.withLock { state in
            guard link.validity.load(ordering: .acquiring) else { return }
            checkOwner(state.loop, "port-based source")
            withEngine { engine in
                guard !engine.isClosed else { return }
                if state.loop == nil {
                    state.ticket = engine.insert(port)
                    state.loop = self
                }
                engine.add(state.ticket, portTo: mode)
            }
        }
        contentsDidChange()
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
        let dropped = link.state.withLock { state -> PortRecord? in
            guard state.loop === self else { return nil }
            let dropped = withEngine { engine -> PortRecord? in
                engine.noteChange()
                _ = engine.ports.remove(state.ticket, from: mode, in: &engine.modes)
                guard let dropped = engine.ports.dropIfUnused(state.ticket) else { return nil }
                engine.didDrop(dropped, state.ticket)
                return dropped
            }
            if dropped != nil { state.loop = nil }
            return dropped
        }
        if let dropped { didDrop(dropped) }
        contentsDidChange()
    }

    /// Has the kernel forget a descriptor that the loop has no source for any more.
    func didDrop(_ record: PortRecord) {
        remote.release(record.descriptor) {
            withEngine { $0.descriptors[record.descriptor] != nil }
        }
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
        port.link.state.withLock { state in
            guard state.loop === self else { return false }
            return withEngine { $0.ports.contains(state.ticket, in: mode, of: $0.modes) }
        }
    }
}
