/// The watched descriptors of a loop, indexed by number: numbers are small, and each event looks
/// one up.
struct WatchTable: ~Copyable {
    private var watches = OwnedArray<UVWatch?>()

    subscript(descriptor: CInt) -> UVWatch? {
        get { watches.indices.contains(Int(descriptor)) ? watches[Int(descriptor)] : nil }
        set {
            while watches.count <= Int(descriptor) { watches.append(nil) }
            watches[Int(descriptor)] = newValue
        }
    }

    /// Completes a recorded report; returns `false` if the descriptor is no longer watched.
    @inline(__always)
    func complete(_ report: inout ReadyReport, epoll: CInt) -> Bool {
        let index = Int(report.descriptor)
        guard watches.indices.contains(index) else { return false }
        return watches[index]?.complete(&report, epoll: epoll) ?? false
    }

    /// Removes and returns a descriptor's watch, if there is one.
    mutating func remove(_ descriptor: CInt) -> UVWatch? {
        guard let watch = self[descriptor] else { return nil }
        self[descriptor] = nil
        return watch
    }

    /// Removes every watch, and closes it.
    mutating func closeAll() {
        for index in watches.indices { watches[index]?.close() }
        watches.removeAll()
    }
}
