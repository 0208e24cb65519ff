extension GenericEngine {
    /// Changes the events that a port waits for, and enables it again after a hang-up.
    ///
    /// - Returns: Whether it waits for some that the latest poll did not ask for.
    @discardableResult
    mutating func setEvents(_ events: Events, of ticket: Ticket) -> Bool {
        guard let record = ports[ticket], let descriptor = record.descriptor else { return false }
        renewVersion()
        ports.modify(ticket) { record in
            record.events = events
            record.hasHungUp = false
        }
        if record.events.isSubset(of: events) {
            requestWatch(ticket)
        } else {
            // An event that is no longer wanted but still reported would wake the loop needlessly.
            markUnwatched(descriptor)
        }
        return record.hasHungUp ? !events.isEmpty : !events.isSubset(of: record.events)
    }

    /// Marks a port's descriptor as unwatched in the port's modes, unless the kernel reports all
    /// that the port can be served.
    ///
    /// Called after every change by which the kernel reports less, or the port waits for more. The
    /// next run in such a mode has the kernel watch it.
    @inline(__always)
    mutating func requestWatch(_ ticket: Ticket) {
        let isUnmet = ports.modify(ticket, in: &modes) { record, modes in
            guard let descriptor = record.servableDescriptor,
                !descriptors.isArmed(descriptor, for: record.wanted)
            else { return false }
            record.attachment.forEach { modes[$0.mode].unwatched.insert(descriptor) }
            return true
        }
        if isUnmet == true { summary.mayHoldUnwatched = true }
    }

    /// Marks a descriptor as not watched, so that runs that can serve its sources watch it again.
    ///
    /// Its kernel registration is gone or out of date.
    mutating func markUnwatched(_ descriptor: CInt) {
        descriptors.setArmed(nil, for: descriptor)
        for ticket in descriptors[descriptor]?.sources ?? [] { requestWatch(ticket) }
    }

    /// Returns what the kernel must watch before a run in the mode polls or sleeps.
    mutating func takeWatchChanges(for mode: Int) -> [WatchChange] {
        guard summary.mayHoldUnwatched else { return [] }
        defer {
            modes[mode].unwatched.removeAll(keepingCapacity: true)
            summary.mayHoldUnwatched = modes.mayContain { !$0.unwatched.isEmpty }
        }
        return modes[mode].unwatched.compactMap { descriptor in
            guard let group = descriptors[descriptor] else { return nil }
            let wanted = interest(of: group, in: mode)
            guard !wanted.isEmpty, !(group.armed?.isSuperset(of: wanted) ?? false) else {
                return nil
            }
            let events = wanted.union(group.armed ?? [])
            descriptors.setArmed(events, for: descriptor)
            clearUnwatched(beside: mode, met: events, of: group, descriptor)
            return group.change(to: events, of: descriptor)
        }
    }

    /// Unmarks the descriptor in other modes that need no more than the kernel reports now.
    private mutating func clearUnwatched(
        beside mode: Int,
        met events: Events,
        of group: DescriptorTable.Group,
        _ descriptor: CInt
    ) {
        for ticket in group.sources {
            ports[ticket]?.attachment.forEach { other in
                guard other.mode != mode, modes[other.mode].unwatched.contains(descriptor) else {
                    return
                }
                // A sole source needs the same in all its modes, of which there may be thousands.
                let isMet =
                    group.sources.count == 1
                    || interest(of: group, in: other.mode).isSubset(of: events)
                guard isMet else { return }
                modes[other.mode].unwatched.remove(descriptor)
            }
        }
    }

    /// Whether a change is still valid; another thread may have changed the descriptor meanwhile.
    func isCurrent(_ change: WatchChange) -> Bool {
        descriptors.registration(of: change.descriptor) == change.registration
    }

    private func interest(of group: DescriptorTable.Group, in mode: Int) -> Events {
        group.sources.reduce([]) { $0.union(ports[$1]?.interest(in: mode) ?? []) }
    }

    /// Limits the events of a descriptor that the kernel has reported to what the mode's run can
    /// serve; other modes restore theirs when they run.
    mutating func maskUnserved(_ descriptor: CInt, for mode: Int) -> WatchChange? {
        guard let group = descriptors[descriptor] else { return nil }
        let wanted = interest(of: group, in: mode)
        let events = wanted.isEmpty ? nil : wanted
        // What the kernel has reported is in the epoll set, whatever is armed.
        guard events == nil || events != group.armed else { return nil }
        descriptors.setArmed(events, for: descriptor)
        for ticket in group.sources { requestWatch(ticket) }
        return group.change(to: events, of: descriptor)
    }

    /// Queues a refusal for the mode's sources of a descriptor that cannot be watched, in all modes
    /// of each.
    ///
    /// Sources that are only in other modes get theirs when a run in such a mode is refused.
    mutating func refuse(_ change: WatchChange, _ error: UVError, in mode: Int) {
        guard let group = descriptors[change.descriptor], isCurrent(change) else { return }
        descriptors.setArmed(nil, for: change.descriptor)
        let serial = nextSerial()
        summary.mayHoldReady = true
        for ticket in group.sources {
            let isServed = ports.modify(ticket, in: &modes) { record, modes in
                guard record.canBeRefused(in: mode) else { return false }
                record.queue(error, at: serial, in: &modes)
                return true
            }
            if isServed == false { requestWatch(ticket) }
        }
    }
}
