/// The modes that a loop knows, by a small index.
struct ModeTable<Items: ItemTypes>: ~Copyable {
    private var contents = OwnedArray<ModeContents<Items>>()
    private var numbers = ModeNumbers()
    private(set) var common: [Int] = []

    init() {
        insertCommon(.default)
    }

    subscript(index: Int) -> ModeContents<Items> {
        @inline(__always)
        unsafeAddress { unsafe UnsafePointer(contents.address(of: index)) }
        @inline(__always)
        unsafeMutableAddress { unsafe contents.address(of: index) }
    }

    /// The index of a mode; `nil` if the loop does not know it.
    @inline(__always)
    func index(of mode: UVRunLoop.Mode) -> Int? { numbers.index(of: mode.number) }

    /// The index of a mode, which is added if the loop does not know it.
    @inline(__always)
    mutating func makeIndex(of mode: UVRunLoop.Mode) -> Int { index(of: mode) ?? insert(mode) }

    @inline(never)
    private mutating func insert(_ mode: UVRunLoop.Mode) -> Int {
        contents.append(ModeContents<Items>(mode: mode))
        return numbers.insert(mode.number)
    }

    /// Makes a mode common; returns its index, or `nil` if it was common already.
    @discardableResult
    mutating func insertCommon(_ mode: UVRunLoop.Mode) -> Int? {
        let index = makeIndex(of: mode)
        guard !contents[index].isCommon else { return nil }
        contents[index].isCommon = true
        common.append(index)
        return index
    }

    var count: Int { contents.count }

    /// Whether a condition holds for a mode; `true` without a check if there are many modes.
    func mayContain(_ isCase: (borrowing ModeContents<Items>) -> Bool) -> Bool {
        guard contents.count <= 16 else { return true }
        for index in contents.indices where isCase(contents[index]) { return true }
        return false
    }

    var names: [UVRunLoop.Mode] { contents.indices.map { contents[$0].mode } }

    func names(of indices: [Int]) -> [UVRunLoop.Mode] { indices.map { contents[$0].mode } }
}

/// The contents of one mode of a loop.
struct ModeContents<Items: ItemTypes>: ~Copyable {
    let mode: UVRunLoop.Mode
    var isCommon = false
    /// The ports that at present do not keep the mode from being empty.
    var idlePortCount = 0
    /// The ports that a poll may find ready.
    var polledPortCount = 0
    var timers = TimerQueue<Items.Timer>()
    var signalled = ReadyQueue()
    var ready = ReadyQueue()
    var contest = PassContest()
    var observers = ObserverLists<Items.Observer>()
    /// Descriptors that the kernel may not watch for all events of this mode's sources.
    var unwatched: Set<CInt> = []

    var sourceCount: Int { signalled.members.count }
    var portCount: Int { ready.members.count }
    /// The valid timers, including those whose handlers are running.
    var timerCount: Int { timers.members.count }

    /// Whether the mode has an item that can produce an event.
    var holdsItems: Bool { sourceCount > 0 || portCount > idlePortCount || timerCount > 0 }

    var traits: ModeTraits {
        @inline(__always)
        get {
            var traits: ModeTraits = []
            if holdsItems { traits.insert(.items) }
            if portCount > 0 { traits.insert(.ports) }
            if polledPortCount > 0 { traits.insert(.descriptors) }
            if timerCount > 0 { traits.insert(.timers) }
            if isCommon { traits.insert(.common) }
            return traits
        }
    }

    /// Adds a timer; returns its slot.
    @inline(__always)
    mutating func join(_ timer: Items.Timer, serial: UInt64) -> HeapSlot {
        let slot = timers.members.insert(timer, serial: serial)
        if !timer.core.isBeingCalled {
            timers.schedule(slot, date: timer.date, latest: timer.core.latest)
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
    /// Any of the ports has a descriptor.
    static let descriptors = ModeTraits(rawValue: 4)
    static let timers = ModeTraits(rawValue: 8)
    /// It is one of the common modes.
    static let common = ModeTraits(rawValue: 16)
}
