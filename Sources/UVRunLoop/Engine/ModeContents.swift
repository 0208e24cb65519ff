/// The contents of one mode of a loop.
struct ModeContents<Items: ItemTypes>: ~Copyable {
    let mode: UVRunLoop.Mode
    var isCommon = false
    /// Whether an item has joined it, or a run has begun in it.
    var wasUsed = false
    /// The ports that at present do not keep the mode from being empty.
    var idlePortCount = 0
    /// The ports that a poll may find ready.
    var polledPortCount = 0
    var timers = TimerQueue<Items.Timer>()
    /// The custom sources.
    var sources = HeapMembers<Ticket>()
    /// The slots of those that are signalled.
    var signalled = OrderedHeap()
    var ports = HeapMembers<Ticket>()
    /// The slots of those that have a turn: that are ready, were before a later poll of one of
    /// their modes, or are expected to be.
    var ready = OrderedHeap()
    var contest = PassContest()
    /// The number of the latest poll of the mode that has ended and that counts.
    var latestPoll: Int64 = 0
    var observers = ObserverLists<Items.Observer>()
    /// Descriptors that the kernel may not watch for all events of this mode's sources.
    var unwatched: Set<CInt> = []

    /// The valid timers, including those whose handlers are running.
    var timerCount: Int { timers.members.count }

    /// Whether the mode has an item that can produce an event.
    var holdsItems: Bool { sources.count > 0 || ports.count > idlePortCount || timerCount > 0 }

    var traits: ModeTraits {
        @inline(__always)
        get {
            var traits: ModeTraits = []
            if holdsItems { traits.insert(.items) }
            if ports.count > 0 { traits.insert(.ports) }
            if polledPortCount > 0 { traits.insert(.polledPorts) }
            if timerCount > 0 { traits.insert(.timers) }
            if isCommon { traits.insert(.common) }
            return traits
        }
    }

    /// Adds a timer; returns its slot.
    @inline(__always)
    mutating func join(_ timer: Items.Timer, serial: UInt64) -> HeapSlot {
        wasUsed = true
        let slot = timers.members.insert(timer, serial: serial)
        if !timer.core.isBeingCalled {
            timers.schedule(slot, date: timer.date, latest: timer.latest)
        }
        return slot
    }

    @inline(__always)
    mutating func timerDidLeave(_ slot: HeapSlot, isQueued: Bool = true) {
        if isQueued { timers.unschedule(slot) }
        timers.members.remove(slot)
    }
}

/// The properties of a mode that its run needs, in one byte.
struct ModeTraits: OptionSet {
    let rawValue: UInt8

    /// The mode has an item that can produce an event.
    static let items = ModeTraits(rawValue: 1)
    static let ports = ModeTraits(rawValue: 2)
    /// A poll may find any of the ports ready.
    static let polledPorts = ModeTraits(rawValue: 4)
    static let timers = ModeTraits(rawValue: 8)
    /// It is one of the common modes.
    static let common = ModeTraits(rawValue: 16)
}
