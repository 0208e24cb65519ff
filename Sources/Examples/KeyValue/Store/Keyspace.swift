/// All keys with their values and expiry dates.
///
/// A key keeps its slot for its lifetime, which `scan` relies on. Slots are in small pages that a
/// snapshot shares copy-on-write: taking one copies no key, and a change made while it is held
/// copies only the page it touches.
///
/// The keyspace is given the time. An expired key is removed on access or by `removeExpired`,
/// whichever comes first; it is never visible.
struct Keyspace {
    /// A key, its value and its date.
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

    /// The number of keys, including expired ones that were not accessed.
    var count: Int { index.count }

    /// The number of keys with an expiry date.
    var expiringCount: Int { expiries.count }

    /// The next expiry date.
    var soonestExpiry: WallTime? { expiries.first?.date }

    /// The number of keys removed by expiry.
    private(set) var expiredCount = 0

    // MARK: Lookup

    /// The slot of a key, or `nil` if there is none.
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

    /// The expiry date of a slot's key.
    func expiry(of slot: Int) -> WallTime {
        pages[slot / Self.pageSize][slot % Self.pageSize]?.expiry ?? .never
    }

    // MARK: Changing

    /// Sets a key's value, whether or not it existed.
    ///
    /// Returns its slot.
    ///
    /// Without `expiry` it never expires; `nil` keeps the previous date.
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

    /// Replaces a value, in its storage if it fits.
    mutating func setValue(of slot: Int, to value: ArraySlice<UInt8>) {
        pages[slot / Self.pageSize][slot % Self.pageSize]?.value.assign(value)
    }

    /// Appends bytes to a value.
    mutating func append(_ bytes: ArraySlice<UInt8>, toValueOf slot: Int) {
        pages[slot / Self.pageSize][slot % Self.pageSize]?.value.append(contentsOf: bytes)
    }

    /// Sets the expiry date of a slot's key.
    mutating func setExpiry(of slot: Int, to expiry: WallTime) {
        // Most keys never expire; for those, no page is written.
        guard expiry != self.expiry(of: slot) else { return }
        pages[slot / Self.pageSize][slot % Self.pageSize]?.expiry = expiry
        if expiry == .never {
            expiries.remove(slot)
        } else {
            expiries.set(slot, to: expiry)
        }
    }

    /// Removes a key.
    ///
    /// Returns whether it existed.
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

    /// Removes expired keys, oldest first, up to a limit.
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
        // Without free slots every slot before the end is in use.
        let slot = index.count
        if slot / Self.pageSize == pages.count {
            pages.append(Array(repeating: nil, count: Self.pageSize))
        }
        return slot
    }

    // MARK: Iteration

    /// Visits the keys of some slots.
    ///
    /// Returns the next cursor; 0 at the end.
    ///
    /// Start with 0 and continue with each result. A key that exists from the first call to the
    /// last is visited exactly once, because it never changes its slot; others may be visited.
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

    /// A snapshot of the current keys, shared copy-on-write.
    func snapshot(at now: WallTime) -> Snapshot { Snapshot(pages: pages, date: now) }

    /// A hash seeded per process, so that collisions cannot be prepared.
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
    /// Replaces the bytes, in place unless the storage is too small or far too large.
    fileprivate mutating func assign(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count <= capacity, capacity <= 2 * bytes.count + 64 else {
            self = Array(bytes)
            return
        }
        removeAll(keepingCapacity: true)
        append(contentsOf: bytes)
    }
}
