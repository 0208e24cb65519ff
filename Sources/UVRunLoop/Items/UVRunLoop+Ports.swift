extension UVRunLoop {
    /// Adds a port-based source to a mode.
    ///
    /// Has no effect if the source is in the mode already or is invalid, or if the loop's thread
    /// has ended; except that a source which has received a hang-up is enabled again.
    ///
    /// > Threading: Any thread. Traps when the source belongs to another loop, or its handler to
    /// > another thread.
    ///
    /// - Parameters:
    ///   - port: The source.
    ///   - mode: The mode, the default one if none is given; ``Mode/common`` adds the source to
    ///     every common mode, later ones included.
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
        var (isBeingCalled, hasJoined) = (false, false)
        link.owner.enter(self, caller) { engine, isNew in
            hasJoined = isNew
            if isNew { link.ticket.value = engine.insert(ServedPort(port)) }
            engine.add(link.ticket.value, portTo: mode)
            isBeingCalled = link.isBeingCalled
        }
        // Its handler may go on reading until there is no more.
        if isBeingCalled, let descriptor = link.descriptor {
            remote.makeNonblocking(descriptor) { isInUse(descriptor) }
        }
        // Not before the port is in the loop: events since then are announced to the loop.
        if link.receiver.isReady { link.announce() }
        // A sender that waits on this loop's thread would wait forever from now on.
        if hasJoined, link.mayBlockSenders { link.receiver.checkWaits() }
        portWasAdded()
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
        let dropped = link.owner.withLock(ifIn: self) { engine in
            let dropped = engine.remove(link.ticket.value, portFrom: mode)
            if dropped != nil { link.owner.leave(staysBusy: link.descriptor != nil) }
            return dropped
        }
        if dropped == nil { link.owner.waitWhileBusy() } else { endLeaving(link) }
        link.receiver.portDidLeave(mode, of: self)
        contentsDidChange()
        withExtendedLifetime(dropped) {}
    }

    /// Has the kernel stop watching the descriptor of a port that has left the engine.
    ///
    /// The owner may close the descriptor when the call that removes or invalidates the source has
    /// returned. The remote's lock comes before the loop's, so the port has left the engine already,
    /// and stays busy meanwhile: other threads that remove, invalidate or add it wait.
    func endLeaving(_ link: PortLink) {
        guard let descriptor = link.descriptor else { return }
        // Another source may use the descriptor.
        remote.release(descriptor) { isInUse(descriptor) }
        link.owner.leave()
        // At once if possible: the program may open another file of the same number for a libuv
        // handle.
        if isOnOwnThread { withDriver { $0.forgetReleased() } }
    }

    /// Whether any source of this loop is for a descriptor.
    private func isInUse(_ descriptor: CInt) -> Bool {
        withEngine { $0.descriptors.registration(of: descriptor) != nil }
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
        contains(port.link, forMode: mode)
    }

    func contains(_ link: PortLink, forMode mode: Mode) -> Bool {
        link.owner.withLock(ifIn: self) { engine in
            engine.ports.contains(link.ticket.value, in: mode, of: engine.modes)
        } ?? false
    }
}
