import UVRunLoop

/// What a run does that ends when nothing happens by itself any more.
struct IdleAction: Sendable {
    /// The run's level.
    let nestingLevel: Int
    let body: @Sendable () -> Void
}

/// A clock's record of one loop.
struct VirtualLoop {
    enum Phase {
        /// It performs something, or is between two runs, or was just made awake.
        case awake
        /// Its thread is in the driver's wait, until a date at the latest.
        case asleep(until: Int64?)
    }

    /// The position among the clock's loops, in the order in which they were made.
    let number: Int
    private let name: String?
    /// The loop, once it has made a pass.
    var loop = Weak<UVRunLoop>(nil)
    let wakeState: WakeState
    let wakeDescriptor: CInt
    var phase = Phase.awake
    /// The watched descriptors; one without events is paused.
    private var watched: [CInt: WatchChange] = [:]
    /// Called on its thread when nothing happens by itself any more.
    var idleAction: IdleAction?
    /// The level of the run that sleeps.
    private var nestingLevel = 0
    /// Whether it is awake because nothing does.
    var isIdle = false

    init(number: Int, name: String?, wakeState: WakeState, wakeDescriptor: CInt) {
        self.number = number
        self.name = name
        self.wakeState = wakeState
        self.wakeDescriptor = wakeDescriptor
    }

    /// The label of the loop, or the name that it was made with.
    var label: String? { loop.object?.label ?? name }

    var isAsleep: Bool {
        if case .asleep = phase { true } else { false }
    }

    /// The date until which it sleeps.
    var date: Int64? {
        if case .asleep(let date) = phase { date } else { nil }
    }

    mutating func fallAsleep(until date: Int64?, nestingLevel: Int) {
        phase = .asleep(until: date)
        self.nestingLevel = nestingLevel
    }

    /// Whether a run sleeps that is nested in the one that ends when nothing happens.
    var sleepsNested: Bool { idleAction.map { nestingLevel > $0.nestingLevel } ?? false }

    /// Takes the step of a thread that is awake because nothing happens by itself.
    mutating func takeIdleStep() -> ClockState.Step? {
        guard exchange(&isIdle, with: false), let idleAction else { return nil }
        return .finish(idleAction.body)
    }

    // MARK: Its poll(2)

    func signal() { WakeEvent.signal(wakeDescriptor) }
    func clearSignal() { WakeEvent.clear(wakeDescriptor) }

    func pollSet(withWatched: Bool) -> PollSet {
        var set = PollSet()
        set.add(wakeDescriptor, .readable)
        for change in withWatched ? present : [] { set.add(change.descriptor, change.events ?? []) }
        return set
    }

    // MARK: Descriptors

    mutating func watch(_ change: WatchChange) { watched[change.descriptor] = change }

    /// Changes the events of a descriptor, unless it was released or registered anew.
    mutating func rearm(_ change: WatchChange) {
        guard watched[change.descriptor]?.registration == change.registration else { return }
        watched[change.descriptor] = change
    }

    mutating func unwatch(_ descriptor: CInt) { watched[descriptor] = nil }

    /// What is watched of descriptors that are not paused, in the order of registration.
    var present: [WatchChange] {
        watched.values.filter { $0.events != nil }.sorted { $0.registration < $1.registration }
    }

    var hasReady: Bool { !findReady().isEmpty }

    /// Polls the watched descriptors without waiting.
    func findReady() -> [ReadyReport] {
        guard !watched.isEmpty else { return [] }
        let present = present
        var set = PollSet()
        for change in present { set.add(change.descriptor, change.events ?? []) }
        guard set.poll(milliseconds: 0) else { return [] }
        return present.indices.compactMap { index in
            let condition = set.condition(at: index)
            guard !condition.events.isEmpty else { return nil }
            return ReadyReport(
                descriptor: present[index].descriptor,
                registration: present[index].registration,
                events: condition.events,
                hasUnread: condition.hasUnread
            )
        }
    }
}
