extension UVRunLoop {
    /// Adds a port-based source to a mode.
    ///
    /// Has no effect if the source is in the mode already or is invalid, except that a source which
    /// has received a hang-up is enabled again.
    ///
    /// > Threading: Any thread. Traps when the source belongs to another loop, or its handler to
    /// > another thread.
    ///
    /// - Parameters:
    ///   - port: The source.
    ///   - mode: The mode, the default one if none is given; ``Mode/common`` adds the source to every common mode, later ones
    ///     included.
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    public func add(
        _ port: any PortSource,
        forMode mode: Mode = .default,
        file: StaticString = #fileID,
        line: UInt = #line
    ) {
        let link = port.link
        let caller = { Caller(file, line, "port-based source", label: port.label) }
        link.receiver.checkHome(is: thread, caller)
        link.useMark.dismiss()
        link.state.withLock { state in
            guard link.validity.load(ordering: .acquiring) else { return }
            Self.checkOwner(isThisOne: state.loop.map { $0 === self } ?? true, caller)
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
        waker.watchesDidChange()
    }

    /// Removes a port-based source from a mode.
    ///
    /// The source stays valid. Events that are pending for it are not delivered.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - port: The source.
    ///   - mode: The mode; ``Mode/common`` removes a source that was added to it from every common
    ///     mode.
    public func remove(_ port: any PortSource, forMode mode: Mode) {
        let link = port.link
        let dropped = link.state.withLock { state -> PortRecord<LoopItems>? in
            guard state.loop === self else { return nil }
            let dropped = withEngine { $0.remove(state.ticket, portFrom: mode) }
            if let dropped {
                state.loop = nil
                unwatchDescriptor(of: dropped)
            }
            return dropped
        }
        contentsDidChange()
        withExtendedLifetime(dropped) {}
    }

    /// Stops watching a descriptor, if no source of the loop uses it any more.
    ///
    /// Called under the link's lock: a second thread that removes or invalidates the source, and
    /// closes the descriptor next, does not return before the kernel has stopped watching it.
    func unwatchDescriptor(of record: PortRecord<LoopItems>) {
        guard let descriptor = record.descriptor else { return }
        remote.release(descriptor) {
            withEngine { $0.descriptors[descriptor] != nil }
        }
        // At once if possible: the program may open another file of the same number for a libuv
        // handle.
        if let local = local.ifHere, !local.hasEnded { local.withDriver { $0.forgetReleased() } }
    }

    /// Returns whether a port-based source is in a mode.
    ///
    /// For ``Mode/common``: whether it was added to that and not removed from it.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - port: The source.
    ///   - mode: The mode.
    /// - Returns: `true` from the moment `add` has returned.
    public func contains(_ port: any PortSource, forMode mode: Mode) -> Bool {
        // The two locks are not nested: an outdated ticket finds nothing.
        let ticket = port.link.state.withLock { $0.loop === self ? $0.ticket : .none }
        return withEngine { $0.ports.contains(ticket, in: mode, of: $0.modes) }
    }
}
