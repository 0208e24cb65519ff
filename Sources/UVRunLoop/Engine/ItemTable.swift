/// The items of one kind in a loop, and the modes they are in, `.common` included.
struct ItemTable<Record: ItemRecord>: ~Copyable {
    private var records = SlotMap<Record>()
    /// Numbers the additions to `.common`.
    private var commonCount: UInt64 = 0

    var tickets: [Ticket] { records.tickets }

    subscript(ticket: Ticket) -> Record? { records[ticket] }

    @discardableResult
    mutating func modify<Result: ~Copyable>(
        _ ticket: Ticket,
        _ change: (inout Record) -> Result
    ) -> Result? {
        records.modify(ticket, change)
    }

    /// Changes an item's record together with the modes that the item is in.
    @discardableResult
    mutating func modify<Result: ~Copyable>(
        _ ticket: Ticket,
        in modes: inout ModeTable<Record.Items>,
        _ change: (inout Record, inout ModeTable<Record.Items>) -> Result
    ) -> Result? {
        records.modify(ticket) { change(&$0, &modes) }
    }

    mutating func insert(_ record: Record) -> Ticket { records.insert(record) }

    /// Adds an item to a mode, or to every common mode; returns the modes that it joined.
    mutating func add(
        _ ticket: Ticket,
        to mode: UVRunLoop.Mode,
        in modes: inout ModeTable<Record.Items>
    ) -> [Int] {
        guard mode == .common else {
            let index = modes.makeIndex(of: mode)
            return join(ticket, index, in: &modes) ? [index] : []
        }
        commonCount += 1
        let number = commonCount
        records.modify(ticket) { record in
            if !record.attachment.isCommon { record.attachment.commonSince = number }
        }
        return modes.common.filter { join(ticket, $0, in: &modes) }
    }

    /// Adds the common items to a new common mode, in the order in which they became common.
    ///
    /// - Complexity: O(number of items), because adding a common mode is too rare for an index; and
    ///   O(*n* log *n*) for *n* common ones.
    mutating func addCommonItems(
        to index: Int,
        in modes: inout ModeTable<Record.Items>
    ) -> [Ticket] {
        let common = records.tickets.compactMap { ticket -> (ticket: Ticket, since: UInt64)? in
            guard let record = records[ticket], record.attachment.isCommon else { return nil }
            return (ticket, record.attachment.commonSince)
        }
        return common.sorted { $0.since < $1.since }.map(\.ticket)
            .filter { join($0, index, in: &modes) }
    }

    /// Adds an item to a mode, unless it is there.
    private mutating func join(
        _ ticket: Ticket,
        _ index: Int,
        in modes: inout ModeTable<Record.Items>
    ) -> Bool {
        let hasJoined = records.modify(ticket) { record in
            guard record.attachment.heapSlot(in: index) == nil else { return false }
            modes[index].wasUsed = true
            record.willChangeModes(&modes)
            let slot = record.join(&modes[index], as: ticket)
            record.attachment.insert(Membership(mode: index, heapSlot: slot))
            return true
        }
        return hasJoined == true
    }

    /// Removes an item from a mode or, if it was added to `.common`, from every common mode.
    ///
    /// - Returns: The modes it left. The record stays; see ``dropIfUnused(_:)``.
    mutating func remove(
        _ ticket: Ticket,
        from mode: UVRunLoop.Mode,
        in modes: inout ModeTable<Record.Items>
    ) -> [Int] {
        guard mode == .common else {
            guard let index = modes.index(of: mode) else { return [] }
            return leave(ticket, index, in: &modes) ? [index] : []
        }
        guard records[ticket]?.attachment.isCommon == true else { return [] }
        records.modify(ticket) { $0.attachment.commonSince = 0 }
        return modes.common.filter { leave(ticket, $0, in: &modes) }
    }

    /// Removes an item from a mode, if it is there.
    private mutating func leave(
        _ ticket: Ticket,
        _ index: Int,
        in modes: inout ModeTable<Record.Items>
    ) -> Bool {
        let hasLeft = records.modify(ticket) { record in
            guard record.attachment.heapSlot(in: index) != nil else { return false }
            record.willChangeModes(&modes)
            guard let membership = record.attachment.remove(from: index) else { return false }
            record.leave(&modes[index], slot: membership.heapSlot)
            return true
        }
        return hasLeft == true
    }

    /// Removes an item from every mode and from the loop.
    mutating func removeEverywhere(
        _ ticket: Ticket,
        in modes: inout ModeTable<Record.Items>
    ) -> (record: Record, left: [Int])? {
        guard var record = records.remove(ticket) else { return nil }
        let attachment = record.attachment
        var left: [Int] = []
        attachment.forEach {
            record.leave(&modes[$0.mode], slot: $0.heapSlot)
            left.append($0.mode)
        }
        return (record, left)
    }

    /// Removes every item from every mode and from the loop.
    mutating func removeAll(
        in modes: inout ModeTable<Record.Items>
    ) -> [(record: Record, left: [Int])] {
        tickets.compactMap { removeEverywhere($0, in: &modes) }
    }

    /// Removes the record of an item that is in no mode and not common.
    mutating func dropIfUnused(_ ticket: Ticket) -> Record? {
        guard let record = records[ticket], !record.attachment.holdsItem else { return nil }
        return records.remove(ticket)
    }

    /// The records of the items in a mode.
    func records(in mode: Int) -> [Record] {
        tickets.compactMap { self[$0] }.filter { $0.attachment.heapSlot(in: mode) != nil }
    }

    func contains(
        _ ticket: Ticket,
        in mode: UVRunLoop.Mode,
        of modes: borrowing ModeTable<Record.Items>
    ) -> Bool {
        guard let record = records[ticket] else { return false }
        if mode == .common { return record.attachment.isCommon }
        return modes.index(of: mode).flatMap { record.attachment.heapSlot(in: $0) } != nil
    }
}
