/// Maps a key's hash to its slot: an open-addressed table with linear probing.
///
/// It stores hashes and slot numbers only; the caller compares keys. Each entry keeps its hash, so
/// growing reads no key.
struct KeyIndex {
    /// A hash in the upper half and the slot's number plus one in the lower; 0 is a free entry.
    private var places: [UInt64] = []
    private var mask = 0
    private(set) var count = 0

    /// The slot with this hash that the caller accepts.
    func slot(hash: UInt32, where isWanted: (Int) -> Bool) -> Int? {
        guard count > 0 else { return nil }
        var place = Int(hash) & mask
        while true {
            let content = places[place]
            if content == 0 { return nil }
            if UInt32(truncatingIfNeeded: content >> 32) == hash {
                let slot = Int(content & 0xFFFF_FFFF) - 1
                if isWanted(slot) { return slot }
            }
            place = (place + 1) & mask
        }
    }

    /// Adds a slot that is not in the table.
    mutating func insert(_ slot: Int, hash: UInt32) {
        // At most three quarters full: beyond that, probe sequences get long.
        if (count + 1) * 4 > places.count * 3 { grow() }
        put(UInt64(hash) << 32 | UInt64(slot + 1))
        count += 1
    }

    /// Removes a slot and shifts later entries back, so that no tombstone is needed.
    mutating func remove(_ slot: Int, hash: UInt32) {
        let content = UInt64(hash) << 32 | UInt64(slot + 1)
        var gap = Int(hash) & mask
        while places[gap] != content { gap = (gap + 1) & mask }

        var place = gap
        while true {
            place = (place + 1) & mask
            let follower = places[place]
            if follower == 0 { break }
            let home = Int(follower >> 32) & mask
            // An entry may fill the gap if the gap is not before its home index.
            if (place - home) & mask >= (place - gap) & mask {
                places[gap] = follower
                gap = place
            }
        }
        places[gap] = 0
        count -= 1
    }

    private mutating func grow() {
        let old = places
        places = Array(repeating: 0, count: max(16, old.count * 2))
        mask = places.count - 1
        for content in old where content != 0 { put(content) }
    }

    private mutating func put(_ content: UInt64) {
        var place = Int(content >> 32) & mask
        while places[place] != 0 { place = (place + 1) & mask }
        places[place] = content
    }
}
