/// The watched descriptors of a loop, indexed by number: numbers are small, and each event looks
/// one up.
struct WatchTable {
    private var watches: [UVWatch?] = []

    subscript(descriptor: CInt) -> UVWatch? {
        get { watches.indices.contains(Int(descriptor)) ? watches[Int(descriptor)] : nil }
        set {
            while watches.count <= Int(descriptor) { watches.append(nil) }
            watches[Int(descriptor)] = newValue
        }
    }

    /// Removes and returns a descriptor's watch, if there is one.
    mutating func remove(_ descriptor: CInt) -> UVWatch? {
        guard let watch = self[descriptor] else { return nil }
        self[descriptor] = nil
        return watch
    }

    mutating func removeAll(_ body: (UVWatch) -> Void) {
        for watch in exchange(&watches, with: []) { watch.map(body) }
    }
}
