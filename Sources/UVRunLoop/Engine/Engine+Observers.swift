/// A loop's record of an observer.
struct ObserverRecord<Items: ItemTypes>: ItemRecord {
    let observer: Items.Observer
    var attachment = Attachment()

    /// It is in no heap.
    func join(_ mode: inout ModeContents<Items>, as ticket: Ticket) -> HeapSlot {
        mode.observers.insert(observer)
        return 0
    }

    func leave(_ mode: inout ModeContents<Items>, slot: HeapSlot) {
        mode.observers.remove(observer)
    }
}

extension GenericEngine {
    mutating func add(_ ticket: Ticket, observerTo mode: UVRunLoop.Mode) {
        renewVersion()
        _ = observers.add(ticket, to: mode, in: &modes)
    }

    /// Removes an observer from a mode; returns its record if the loop no longer needs it.
    mutating func remove(
        _ ticket: Ticket,
        observerFrom mode: UVRunLoop.Mode
    ) -> ObserverRecord<Items>? {
        renewVersion()
        _ = observers.remove(ticket, from: mode, in: &modes)
        return observers.dropIfUnused(ticket)
    }

    /// Removes an observer from the loop.
    mutating func removeObserver(_ ticket: Ticket) -> ObserverRecord<Items>? {
        renewVersion()
        return observers.removeEverywhere(ticket, in: &modes)?.record
    }
}
