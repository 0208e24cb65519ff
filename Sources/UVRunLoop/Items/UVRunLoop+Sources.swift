extension UVRunLoop {
    /// Adds a custom source to a mode, and calls its `schedule` handler for every mode it joins.
    ///
    /// Has no effect if the source is in the mode already or is invalid, or if the loop's thread
    /// has ended. Called from another thread, this wakes the loop.
    ///
    /// > Threading: Any thread. Traps when the source's perform handler belongs to another thread.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - mode: The mode, the default one if none is given; ``Mode/common`` adds the source to
    ///     every common mode, later ones included.
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    public func add(
        _ source: Source,
        forMode mode: Mode = .default,
        file: StaticString = #fileID,
        line: UInt = #line
    ) {
        source.handler.home.check(is: thread) { Caller(file, line, "source", label: source.label) }
        source.useMark.dismiss()
        let joined = source.state.withLock { state -> [Mode] in
            guard source.isValid else { return [] }
            let joined = join(mode, source, &state)
            source.makeDue(.schedule, joined, of: self, &state)
            return joined
        }
        source.makeModeCalls()
        if !joined.isEmpty, !isOnOwnThread { wakeUp() }
    }

    /// Puts a source, whose lock the caller holds, into a mode of this loop.
    ///
    /// - Returns: The concrete modes that it was not in; none if the loop has ended.
    func join(_ mode: Mode, _ source: Source, _ state: inout Source.State) -> [Mode] {
        let known = state.links.first { $0.loop === self }?.ticket
        let signal = known == nil ? source.signalNumber : nil
        let (ticket, joined) = withEngine { engine -> (Ticket?, [Mode]) in
            guard !engine.isClosed else { return (nil, []) }
            let ticket = known ?? engine.sources.insert(SourceRecord<LoopItems>(source: source))
            return (ticket, engine.add(ticket, sourceTo: mode, signal: signal))
        }
        if known == nil, let ticket {
            state.links.append(Source.Link(loop: self, ticket: ticket))
        }
        return joined
    }

    /// Removes a custom source from a mode, and calls its `cancel` handler for every mode it
    /// leaves.
    ///
    /// The source stays valid and keeps its signal. If it is among those about to be
    /// performed in the current pass, it still is.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - mode: The mode; ``Mode/common`` removes a source that was added to it from every common
    ///     mode.
    public func remove(_ source: Source, forMode mode: Mode) {
        let dropped = source.state.withLock { state -> SourceRecord<LoopItems>? in
            guard let index = state.links.firstIndex(where: { $0.loop === self }) else {
                return nil
            }
            let ticket = state.links[index].ticket
            let (left, dropped) = withEngine { $0.remove(ticket, sourceFrom: mode) }
            if dropped != nil { state.links.remove(at: index) }
            source.makeDue(.cancel, left, of: self, &state)
            return dropped
        }
        source.makeModeCalls()
        contentsDidChange()
        withExtendedLifetime(dropped) {}
    }

    /// Returns whether a custom source is in a mode.
    ///
    /// For ``Mode/common``: whether it was added to that and not removed from it.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - mode: The mode.
    /// - Returns: `true` from the moment `add` has returned.
    public func contains(_ source: Source, forMode mode: Mode) -> Bool {
        checkProcess()
        return source.state.withLock { isIn(mode, $0) }
    }

    /// Whether a source, whose lock the caller holds, is in a mode of this loop.
    func isIn(_ mode: Mode, _ state: Source.State) -> Bool {
        guard let ticket = state.links.first(where: { $0.loop === self })?.ticket else {
            return false
        }
        return withEngine { $0.sources.contains(ticket, in: mode, of: $0.modes) }
    }
}
