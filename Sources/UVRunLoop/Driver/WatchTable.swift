/// The watched descriptors of a loop, by their numbers: these are small, and asked for with every
/// event.
struct WatchTable {
    private var watches: [UVWatch?] = []

    subscript(descriptor: CInt) -> UVWatch? {
        get { watches.indices.contains(Int(descriptor)) ? watches[Int(descriptor)] : nil }
        set {
            while watches.count <= Int(descriptor) { watches.append(nil) }
            watches[Int(descriptor)] = newValue
        }
    }

    /// Takes a descriptor's watch out; `nil` when there is none.
    mutating func remove(_ descriptor: CInt) -> UVWatch? {
        guard let watch = self[descriptor] else { return nil }
        self[descriptor] = nil
        return watch
    }

    mutating func removeAll(_ body: (UVWatch) -> Void) {
        for watch in exchange(&watches, with: []) { watch.map(body) }
    }
}
