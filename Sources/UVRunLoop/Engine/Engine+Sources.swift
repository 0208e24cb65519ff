/// A loop's record of a custom source.
struct SourceRecord<Items: ItemTypes>: ItemRecord {
    let source: Items.Source
    var attachment = Attachment()
    /// When it was first signalled since it was last performed; `nil` if it is not signalled.
    fileprivate var signal: UInt64?

    init(source: Items.Source) { self.source = source }

    func join(_ mode: inout ModeContents<Items>, as ticket: Ticket) -> HeapSlot {
        let slot = mode.sources.insert(ticket)
        queue(slot, in: &mode)
        return slot
    }

    func leave(_ mode: inout ModeContents<Items>, slot: HeapSlot) {
        mode.signalled.remove(slot)
        mode.sources.remove(slot)
    }

    fileprivate func queue(_ slot: HeapSlot, in mode: inout ModeContents<Items>) {
        guard let signal else { return }
        mode.signalled.insert(slot, Turn(rank: Int64(source.order), serial: signal))
    }
}

extension GenericEngine {
    /// Adds a source to a mode.
    ///
    /// - Parameters:
    ///   - ticket: The source.
    ///   - mode: The mode.
    ///   - signal: The number of the signal of a source that is new in the loop; `nil` for one that
    ///     is in other modes, where the loop may just be taking its signal.
    /// - Returns: The modes that it joined.
    mutating func add(
        _ ticket: Ticket,
        sourceTo mode: UVRunLoop.Mode,
        signal: UInt64?
    ) -> [UVRunLoop.Mode] {
        renewVersion()
        let joined = sources.add(ticket, to: mode, in: &modes)
        if let signal { markSignalled(ticket, signal) }
        return modes.names(of: joined)
    }

    /// Queues a signalled source in every mode it is in.
    ///
    /// - Parameters:
    ///   - ticket: The source.
    ///   - serial: The number of the signal; later signals, of any source, have larger numbers.
    mutating func markSignalled(_ ticket: Ticket, _ serial: UInt64) {
        let isNew = sources.modify(ticket, in: &modes) { record, modes in
            guard record.signal == nil else { return false }
            record.signal = serial
            record.attachment.forEach { record.queue($0.heapSlot, in: &modes[$0.mode]) }
            return true
        }
        if isNew == true { signalledCount += 1 }
    }

    /// Removes a source from the queues, because this loop or another is about to perform it.
    mutating func clearSignal(_ ticket: Ticket) {
        let wasSignalled = sources.modify(ticket, in: &modes) { record, modes in
            guard record.signal != nil else { return false }
            record.signal = nil
            record.attachment.forEach { modes[$0.mode].signalled.remove($0.heapSlot) }
            return true
        }
        if wasSignalled == true { signalledCount -= 1 }
    }

    /// Removes a source from a mode; returns the modes it left, and its record if the loop no
    /// longer needs it.
    mutating func remove(
        _ ticket: Ticket,
        sourceFrom mode: UVRunLoop.Mode
    ) -> (left: [UVRunLoop.Mode], dropped: SourceRecord<Items>?) {
        renewVersion()
        let left = sources.remove(ticket, from: mode, in: &modes)
        let dropped = sources.dropIfUnused(ticket)
        if let dropped { forgetSignal(of: dropped) }
        return (modes.names(of: left), dropped)
    }

    /// Removes a source from modes, but for those that are still wanted; its record stays.
    mutating func remove(
        _ ticket: Ticket,
        sourceFrom unwanted: [UVRunLoop.Mode],
        unless isWanted: (UVRunLoop.Mode) -> Bool
    ) {
        renewVersion()
        for mode in unwanted {
            let left = sources.remove(ticket, from: mode, in: &modes)
            for mode in modes.names(of: left) + [.common] where isWanted(mode) {
                _ = sources.add(ticket, to: mode, in: &modes)
            }
        }
    }

    /// Removes a source from the loop; returns the modes it left.
    mutating func removeSource(_ ticket: Ticket) -> [UVRunLoop.Mode] {
        renewVersion()
        guard let found = sources.removeEverywhere(ticket, in: &modes) else { return [] }
        forgetSignal(of: found.record)
        return modes.names(of: found.left)
    }

    private mutating func forgetSignal(of record: SourceRecord<Items>) {
        if record.signal != nil { signalledCount -= 1 }
    }

    /// A source that was taken off the queues to be performed, and its ticket then.
    struct FirstSignalled: ~Copyable {
        let source: Items.Source
        let ticket: Ticket
    }

    /// Takes the first signalled source of the mode off the queues.
    mutating func takeFirstSignalled(in mode: Int) -> FirstSignalled? {
        guard let slot = modes[mode].signalled.first?.slot,
            let ticket = modes[mode].sources[slot]
        else { return nil }
        clearSignal(ticket)
        return sources.modify(ticket) { FirstSignalled(source: $0.source, ticket: ticket) }
    }

    /// Appends the signalled sources of the mode, in no particular order.
    func collectSignalled(in mode: Int, into batch: inout [SignalledSource]) {
        modes[mode].signalled.forEach { entry in
            if let ticket = modes[mode].sources[entry.slot], let source = sources[ticket]?.source {
                batch.append(SignalledSource(source: source, turn: entry.turn))
            }
        }
    }

    /// A source that is about to be performed, and its position among the others.
    struct SignalledSource {
        var source: Items.Source
        var turn: Turn
    }
}
