/// Items that wait for modes to run, in the order in which they came.
///
/// An item has an entry for each mode that it waits for; the first run that may take it does, and
/// its other entries are finished. What waits for `.common` is taken by every common mode. Modes
/// are given by their numbers.
struct ModeQueue<Item>: ~Copyable {
    // Not private: Swift 6.3.1 could then not destroy a queue outside this file in a debug build.
    struct Element {
        var item: Item
        let serial: UInt64
        /// The line that has an entry for it, without an array; `nil` if none has.
        let line: Int?
        /// The lines that have further entries for it.
        let otherLines: [Int]
    }

    struct Entry {
        let serial: UInt64
        let ticket: Ticket
    }

    /// The entries for one mode, oldest first.
    private struct Line {
        var entries: [Entry] = []
        /// Entries before this index are finished.
        var start = 0
        /// The number of entries that are not finished.
        var live = 0
    }

    private var elements = SlotMap<Element>()
    private var lines: [Line] = []
    private var numbers = ModeNumbers()
    /// The number of items that wait for modes.
    private(set) var count = 0
    /// The number of the latest item.
    private(set) var serial: UInt64 = 0

    // MARK: In

    /// Adds an item that waits for one mode.
    @discardableResult
    mutating func insert(_ item: Item, for mode: Int) -> Ticket {
        insert(item, line(of: mode), [])
    }

    /// Adds an item that waits for the first of several modes to run, or for none.
    @discardableResult
    mutating func insert(_ item: Item, for modes: [Int]) -> Ticket {
        var others: [Int] = []
        for line in modes.map({ line(of: $0) }) where !others.contains(line) { others.append(line) }
        return insert(item, others.popLast(), others)
    }

    private mutating func insert(_ item: Item, _ line: Int?, _ otherLines: [Int]) -> Ticket {
        serial += 1
        let ticket = elements.insert(
            Element(item: item, serial: serial, line: line, otherLines: otherLines)
        )
        guard let line else { return ticket }
        count += 1
        append(ticket, to: line)
        for line in otherLines { append(ticket, to: line) }
        return ticket
    }

    private mutating func append(_ ticket: Ticket, to line: Int) {
        lines[line].entries.append(Entry(serial: serial, ticket: ticket))
        lines[line].live += 1
    }

    /// The index of the mode's line, which is created if there is none.
    private mutating func line(of mode: Int) -> Int {
        if let line = numbers.index(of: mode) { return line }
        lines.append(Line())
        return numbers.insert(mode)
    }

    // MARK: Out

    /// The oldest item that may be taken in a mode.
    mutating func oldest(for mode: Int, isCommon: Bool) -> Entry? {
        let own = oldest(in: mode)
        guard isCommon, let common = oldest(in: UVRunLoop.Mode.common.number) else { return own }
        return common.serial < own?.serial ?? .max ? common : own
    }

    private mutating func oldest(in mode: Int) -> Entry? {
        guard let line = numbers.index(of: mode) else { return nil }
        while lines[line].start < lines[line].entries.count {
            let entry = lines[line].entries[lines[line].start]
            if elements.holds(entry.ticket) { return entry }
            lines[line].start += 1
        }
        lines[line].entries.removeAll(keepingCapacity: true)
        lines[line].start = 0
        return nil
    }

    /// Takes the oldest item that may be taken in a mode.
    mutating func takeNext(for mode: Int, isCommon: Bool) -> Item? {
        oldest(for: mode, isCommon: isCommon).flatMap { remove($0.ticket) }
    }

    /// Removes an item; returns `nil` if it was removed before.
    mutating func remove(_ ticket: Ticket) -> Item? {
        guard let element = elements.remove(ticket) else { return nil }
        if let line = element.line {
            count -= 1
            finishEntry(in: line)
            for line in element.otherLines { finishEntry(in: line) }
        }
        return element.item
    }

    /// Records that an entry is finished; removes such entries if they are the majority.
    private mutating func finishEntry(in line: Int) {
        lines[line].live -= 1
        guard lines[line].entries.count > 2 * lines[line].live + 16 else { return }
        lines[line].entries.removeAll { !elements.holds($0.ticket) }
        lines[line].start = 0
    }

    /// Removes all items; returns them in order.
    mutating func removeAll() -> [Item] {
        let removed = elements.tickets.compactMap { elements.remove($0) }
        (lines, numbers, count) = ([], ModeNumbers(), 0)
        return removed.sorted { $0.serial < $1.serial }.map(\.item)
    }

    // MARK: Questions

    /// Whether an item waits that may be taken in a mode.
    func holdsItem(for mode: Int, isCommon: Bool) -> Bool {
        live(mode) > 0 || (isCommon && live(UVRunLoop.Mode.common.number) > 0)
    }

    private func live(_ mode: Int) -> Int { numbers.index(of: mode).map { lines[$0].live } ?? 0 }

    func holds(_ ticket: Ticket) -> Bool { elements.holds(ticket) }

    subscript(ticket: Ticket) -> Item? { elements[ticket]?.item }

    /// The number that an item got when it was added.
    func serial(of ticket: Ticket) -> UInt64? { elements[ticket]?.serial }

    /// Changes an item in place; does nothing once it has been removed.
    mutating func modify(_ ticket: Ticket, _ change: (inout Item) -> Void) {
        elements.modify(ticket) { change(&$0.item) }
    }
}
