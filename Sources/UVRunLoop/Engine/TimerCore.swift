/// The state that every timer has and that changes.
///
/// It is stored in the timer itself, so a timer needs one lock and one allocation. The lock is that
/// of the loop that the timer is in (see ``ItemOwner``). Fresh memory costs more than anything else
/// that is done for a new timer, so this is 8 bytes beside the date, and what a plain one-shot does
/// not have is in ``TimerExtras``.
struct TimerCore {
    private var slot: HeapSlot = -1
    /// The index of its mode plus one; zero for none.
    private var modeNumber: UInt8 = 0
    private var marks: Marks = []
    /// The number of its calls on the stack; a timer that is being called is not queued.
    private(set) var callDepth: UInt16 = 0

    private struct Marks: OptionSet {
        var rawValue: UInt8

        static let isCommon = Marks(rawValue: 1)
        static let hasModesElsewhere = Marks(rawValue: 2)
        static let awaitsNextDate = Marks(rawValue: 4)
        static let isPostponed = Marks(rawValue: 8)
        static let hasTolerance = Marks(rawValue: 16)

        subscript(mark: Marks) -> Bool {
            @inline(__always) get { contains(mark) }
            @inline(__always) set { if newValue { insert(mark) } else { remove(mark) } }
        }
    }

    // MARK: Modes

    /// Its membership in its only mode, unless it is stored elsewhere.
    var membership: Membership {
        @inline(__always)
        get {
            modeNumber == 0 ? .none : Membership(mode: Int(modeNumber &- 1), heapSlot: slot)
        }
        @inline(__always)
        set {
            modeNumber = newValue.exists ? UInt8(truncatingIfNeeded: newValue.mode &+ 1) : 0
            slot = newValue.heapSlot
        }
    }

    /// Whether a membership can be stored here.
    static func hasRoom(for membership: Membership) -> Bool {
        membership.mode < Int(UInt8.max)
    }

    /// Whether the engine stores its memberships: it is in several modes, or in one for whose index
    /// there is no room here.
    var hasModesElsewhere: Bool {
        get { marks[.hasModesElsewhere] }
        set { marks[.hasModesElsewhere] = newValue }
    }

    /// Whether it is in no mode but that of its ``membership``, and not common.
    var isInOneModeAtMost: Bool { marks.isDisjoint(with: [.isCommon, .hasModesElsewhere]) }

    /// Whether it was added to the common modes.
    var isCommon: Bool {
        get { marks[.isCommon] }
        set { marks[.isCommon] = newValue }
    }

    // MARK: Dates

    /// Whether its extras hold a tolerance.
    var hasTolerance: Bool {
        get { marks[.hasTolerance] }
        set { marks[.hasTolerance] = newValue }
    }

    // MARK: Calls

    var isBeingCalled: Bool { callDepth > 0 }

    /// Whether it is being called for its date, and has no next date yet.
    var awaitsNextDate: Bool {
        get { marks[.awaitsNextDate] }
        set { marks[.awaitsNextDate] = newValue }
    }

    mutating func callWillBegin(forDate: Bool) {
        if callDepth == 0 { awaitsNextDate = forDate }
        require(callDepth < .max, "A timer cannot be fired in its handler 65,535 levels deep.")
        callDepth += 1
    }

    mutating func callDidEnd() { callDepth -= 1 }

    /// Queues a one-shot timer again, for the same date, when its call ends.
    mutating func postpone() { marks[.isPostponed] = true }

    mutating func takePostponement() -> Bool { exchange(&marks[.isPostponed], with: false) }
}

/// The traits of a timer, which never change and so need no lock.
struct TimerTraits: OptionSet {
    let rawValue: UInt8

    /// Its extras hold an interval.
    static let repeats = TimerTraits(rawValue: 1)
    /// The end of a loop that it is in calls its handler, too.
    static let isCalledAtLoopEnd = TimerTraits(rawValue: 2)
}
