/// The blocks that were taken from the queue and wait for their modes, in order.
///
/// A block for one mode is in that mode's queue, a block for `.common` in the common queue, from
/// which every common mode takes. A block for several modes is stored once and has an entry in the
/// queue of each: the mode that runs first takes it, and the other entries are skipped. Modes are
/// given by their numbers.
struct Inbox: ~Copyable {
    struct Entry {
        fileprivate var serial: UInt64
        fileprivate var content: Content

        fileprivate enum Content {
            case block(Block)
            case shared(Ticket)
        }

        /// Moves the block out; every entry that was taken from the inbox has one.
        mutating func takeBlock() -> Block? {
            guard case .block(let block) = content else { return nil }
            content = .shared(.none)
            return block
        }

        fileprivate var block: Block? {
            guard case .block(let block) = content else { return nil }
            return block
        }

        fileprivate func isLive(in shared: borrowing SlotMap<Shared>) -> Bool {
            guard case .shared(let ticket) = content else { return true }
            return shared.holds(ticket)
        }
    }

    // Not private: Swift 6.3.1 could then not destroy an inbox outside this file in a debug build.
    struct Shared {
        var block: Block
        /// The queues that have an entry for it.
        var queues: [Int]
    }

    private struct Queue {
        var entries: [Entry] = []
        /// The number of entries whose blocks have not run in another mode.
        var live = 0
        var holdsShared = false

        @inline(__always)
        mutating func append(_ entry: Entry) {
            entries.append(entry)
            live += 1
        }

        mutating func removeAll() {
            entries = []
            live = 0
        }

        /// Removes the entries whose blocks ran in other modes, if they are the majority.
        mutating func compact(_ shared: borrowing SlotMap<Shared>) {
            guard entries.count > 2 * live + 16 else { return }
            entries.removeAll { !$0.isLive(in: shared) }
        }
    }

    private var queues: [Queue] = []
    private var numbers = ModeNumbers()
    private var shared = SlotMap<Shared>()
    private var serial: UInt64 = 0
    /// The number of blocks that wait, for any mode.
    private(set) var count = 0

    /// Queues a block for one mode.
    mutating func post(_ block: @escaping Block, to mode: Int) {
        append(.block(block), to: mode)
        count += 1
        serial += 1
    }

    /// Queues a block for the first of several modes to run.
    mutating func post(_ block: @escaping Block, to targets: [Int]) {
        let modes = targets.reduce(into: [Int]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        if let mode = modes.first, modes.count == 1 { return post(block, to: mode) }
        let ticket = shared.insert(Shared(block: block, queues: modes.map { queue(of: $0) }))
        for mode in modes {
            let queue = append(.shared(ticket), to: mode)
            queues[queue].holdsShared = true
            queues[queue].compact(shared)
        }
        count += 1
        serial += 1
    }

    @discardableResult
    @inline(__always)
    private mutating func append(_ content: Entry.Content, to mode: Int) -> Int {
        let index = queue(of: mode)
        queues[index].append(Entry(serial: serial, content: content))
        return index
    }

    /// The index of the mode's queue, which is created if there is none.
    @inline(__always)
    private mutating func queue(of mode: Int) -> Int {
        numbers.index(of: mode) ?? makeQueue(for: mode)
    }

    private mutating func makeQueue(for mode: Int) -> Int {
        queues.append(Queue())
        return numbers.insert(mode)
    }

    /// Whether a block waits that may run in the mode.
    func holdsBlock(for mode: Int, isCommon: Bool) -> Bool {
        live(mode) > 0 || (isCommon && live(UVRunLoop.Mode.common.number) > 0)
    }

    private func live(_ number: Int) -> Int {
        numbers.index(of: number).map { queues[$0].live } ?? 0
    }

    /// Takes every block that may run in the mode, oldest first.
    ///
    /// - Parameters:
    ///   - mode: The number of the mode that runs.
    ///   - isCommon: Whether it is a common one.
    ///   - batch: Gets the blocks.
    mutating func take(for mode: Int, isCommon: Bool, into batch: inout BlockBatch) {
        var entries = take(for: mode, isCommon: isCommon)
        for index in entries.indices {
            if let block = entries[index].takeBlock() {
                batch.append(BlockBatch.Element(block: block))
            }
        }
    }

    private mutating func take(for mode: Int, isCommon: Bool) -> [Entry] {
        var batch: [Entry] = []
        let common = UVRunLoop.Mode.common.number
        if let queue = numbers.index(of: mode), queues[queue].live > 0 {
            takeQueue(queue, into: &batch)
        }
        guard isCommon, let queue = numbers.index(of: common), queues[queue].live > 0 else {
            return batch
        }
        var commonBatch: [Entry] = []
        takeQueue(queue, into: &commonBatch)
        if batch.isEmpty { return commonBatch }
        // Two queues in order make one in order.
        return (batch + commonBatch).sorted { $0.serial < $1.serial }
    }

    private mutating func takeQueue(_ index: Int, into batch: inout [Entry]) {
        swap(&queues[index].entries, &batch)
        guard queues[index].holdsShared else {
            count -= batch.count
            queues[index].live = 0
            return
        }
        queues[index].holdsShared = false
        batch = batch.compactMap { take($0, from: index) }
    }

    /// Takes one entry, with the block itself where the entry stands for a shared one.
    private mutating func take(_ entry: Entry, from index: Int) -> Entry? {
        switch entry.content {
        case .block:
            queues[index].live -= 1
            count -= 1
            return entry
        case .shared(let ticket):
            guard let found = shared.remove(ticket) else { return nil }
            for queue in found.queues { queues[queue].live -= 1 }
            count -= 1
            return Entry(serial: entry.serial, content: .block(found.block))
        }
    }

    /// Removes the blocks that wait; returns them, for the caller to release.
    mutating func removeAll() -> [Block] {
        count = 0
        let blocks = queues.flatMap(\.entries).compactMap(\.block)
        let others = shared.tickets.compactMap { shared.remove($0)?.block }
        for index in queues.indices { queues[index].removeAll() }
        return blocks + others
    }
}
