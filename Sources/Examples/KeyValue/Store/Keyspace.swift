/// All keys with their values and dates of expiry.
///
/// A key keeps its slot for as long as it is there, which is what `scan` builds on. Slots lie in
/// small pages, so that a snapshot can share them: taking one copies no key, and a change made while
/// a snapshot is held copies the one page that it touches.
///
/// The keyspace is told the time. A key whose date has passed is removed when somebody asks for it,
/// or by `removeExpired`, whichever comes first; nobody ever sees it.
struct Keyspace {
    /// A key and what belongs to it.
    struct Entry: Sendable {
        let key: [UInt8]
        var value: [UInt8]
        var expiry = WallTime.never
    }

    static let pageSize = 256

    private var pages: [[Entry?]] = []
    private var freeSlots: [Int] = []
    private var index = KeyIndex()
    private var expiries = ExpiryQueue()

    /// How many keys there are, those included that have expired and that nobody has asked for.
    var count: Int { index.count }

    /// How many keys have a date of expiry.
    var expiringCount: Int { expiries.count }

    /// When the next key expires.
    var soonestExpiry: WallTime? { expiries.first?.date }

    /// How many keys were removed because their date had come.
    private(set) var expiredCount = 0

    // MARK: Finding

    /// The slot of a key, or `nil` when there is no such key.
    mutating func slot(of key: ArraySlice<UInt8>, at now: WallTime) -> Int? {
        find(key, hash: Self.hash(key), at: now)
    }

    private mutating func find(
        _ key: ArraySlice<UInt8>,
        hash: UInt32,
        at now: WallTime
    ) -> Int? {
        guard let slot = index.slot(hash: hash, where: { holds(key, at: $0) }) else { return nil }
        guard expiry(of: slot) > now else {
            remove(slot, hash: hash)
            expiredCount += 1
            return nil
        }
        return slot
    }

    private func holds(_ key: ArraySlice<UInt8>, at slot: Int) -> Bool {
        guard let other = pages[slot / Self.pageSize][slot % Self.pageSize]?.key else {
            return false
        }
        return other[...] == key
    }

    /// The key of a slot.
    func key(of slot: Int) -> [UInt8] {
        pages[slot / Self.pageSize][slot % Self.pageSize]?.key ?? []
    }

    /// The value of a slot.
    func value(of slot: Int) -> [UInt8] {
        pages[slot / Self.pageSize][slot % Self.pageSize]?.value ?? []
    }

    /// When a slot's key expires.
    func expiry(of slot: Int) -> WallTime {
        pages[slot / Self.pageSize][slot % Self.pageSize]?.expiry ?? .never
    }

    // MARK: Changing

    /// Gives a key a value, whether or not it had one, and answers its slot.
    ///
    /// Without a date of expiry it never expires; `nil` leaves that as it is.
    @discardableResult
    mutating func set(
        _ key: ArraySlice<UInt8>,
        to value: ArraySlice<UInt8>,
        expiry: WallTime? = .never,
        at now: WallTime
    ) -> Int {
        let hash = Self.hash(key)
        let slot: Int
        if let known = find(key, hash: hash, at: now) {
            slot = known
            setValue(of: slot, to: value)
        } else {
            slot = takeFreeSlot()
            let entry = Entry(key: Array(key), value: Array(value))
            pages[slot / Self.pageSize][slot % Self.pageSize] = entry
            index.insert(slot, hash: hash)
        }
        if let expiry { setExpiry(of: slot, to: expiry) }
        return slot
    }

    /// Replaces a value, in the memory of the old one where that fits.
    mutating func setValue(of slot: Int, to value: ArraySlice<UInt8>) {
        pages[slot / Self.pageSize][slot % Self.pageSize]?.value.assign(value)
    }

    /// Adds bytes to a value.
    mutating func append(_ bytes: ArraySlice<UInt8>, toValueOf slot: Int) {
        pages[slot / Self.pageSize][slot % Self.pageSize]?.value.append(contentsOf: bytes)
    }

    /// Sets when a slot's key expires.
    mutating func setExpiry(of slot: Int, to expiry: WallTime) {
        // Most keys never expire: for those, no page is written.
        guard expiry != self.expiry(of: slot) else { return }
        pages[slot / Self.pageSize][slot % Self.pageSize]?.expiry = expiry
        if expiry == .never {
            expiries.remove(slot)
        } else {
            expiries.set(slot, to: expiry)
        }
    }

    /// Removes a key; answers whether it was there.
    mutating func remove(_ key: ArraySlice<UInt8>, at now: WallTime) -> Bool {
        let hash = Self.hash(key)
        guard let slot = find(key, hash: hash, at: now) else { return false }
        remove(slot, hash: hash)
        return true
    }

    /// Removes all keys.
    mutating func removeAll() {
        let expired = expiredCount
        self = Keyspace()
        expiredCount = expired
    }

    /// Removes keys whose date has come, the oldest dates first, at most so many of them.
    mutating func removeExpired(at now: WallTime, limit: Int) {
        for _ in 0..<limit {
            guard let (slot, date) = expiries.first, date <= now else { return }
            remove(slot, hash: Self.hash(key(of: slot)[...]))
            expiredCount += 1
        }
    }

    private mutating func remove(_ slot: Int, hash: UInt32) {
        index.remove(slot, hash: hash)
        expiries.remove(slot)
        pages[slot / Self.pageSize][slot % Self.pageSize] = nil
        freeSlots.append(slot)
    }

    private mutating func takeFreeSlot() -> Int {
        if let slot = freeSlots.popLast() { return slot }
        // Without free slots every slot before the end is taken.
        let slot = index.count
        if slot / Self.pageSize == pages.count {
            pages.append(Array(repeating: nil, count: Self.pageSize))
        }
        return slot
    }

    // MARK: Walking

    /// Shows the keys of some slots, and answers where to go on: 0 when this was the end.
    ///
    /// Start with 0 and go on with each answer. A key that is there from the first call to the last
    /// is shown exactly once, because it never leaves its slot; of the others some are shown.
    func scan(
        from cursor: Int,
        slots limit: Int,
        at now: WallTime,
        _ body: (Entry) -> Void
    ) -> Int {
        let end = pages.count * Self.pageSize
        guard cursor < end else { return 0 }
        let stop = min(limit, end - cursor) + cursor
        for slot in cursor..<stop {
            let entry = pages[slot / Self.pageSize][slot % Self.pageSize]
            if let entry, entry.expiry > now { body(entry) }
        }
        return stop == end ? 0 : stop
    }

    /// All that is here now; it shares memory with the keyspace and does not change with it.
    func snapshot(at now: WallTime) -> Snapshot { Snapshot(pages: pages, date: now) }

    /// A hash that differs from process to process, so that nobody can prepare keys that collide.
    private static func hash(_ key: ArraySlice<UInt8>) -> UInt32 {
        var hasher = Hasher()
        let bytes = key.span
        var place = 0
        var word: UInt64 = 0
        while place < bytes.count {
            word = word << 8 | UInt64(bytes[place])
            place += 1
            if place & 7 == 0 {
                hasher.combine(word)
                word = 0
            }
        }
        hasher.combine(word)
        hasher.combine(place)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }
}

extension [UInt8] {
    /// Becomes these bytes, in the same memory unless that is too small or far too large.
    fileprivate mutating func assign(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count <= capacity, capacity <= 2 * bytes.count + 64 else {
            self = Array(bytes)
            return
        }
        removeAll(keepingCapacity: true)
        append(contentsOf: bytes)
    }
}
