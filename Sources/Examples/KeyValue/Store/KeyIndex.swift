/// Finds the slot of a key by the key's hash: an open-addressed table that probes in a straight line.
///
/// It knows hashes and slot numbers only; whether a slot holds the key that is looked for is the
/// caller's to say. Each place keeps its hash, so growing never looks at a key.
struct KeyIndex {
    /// A hash in the upper half and a slot's number plus one in the lower; 0 is a free place.
    private var places: [UInt64] = []
    private var mask = 0
    private(set) var count = 0

    /// The slot with this hash that satisfies the caller.
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
        // Three quarters full at most: beyond that, probing gets long.
        if (count + 1) * 4 > places.count * 3 { grow() }
        put(UInt64(hash) << 32 | UInt64(slot + 1))
        count += 1
    }

    /// Takes a slot out; those behind it close up, so that no mark has to stay.
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
            // It may move into the gap if that is not before the place where a search for it begins.
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
