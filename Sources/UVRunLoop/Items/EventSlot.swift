/// The events since one task last asked, merged into one element.
///
/// There is no buffer. A source that would be called again and again leaves its mode at the first
/// event that nobody waits for, and is added again by the task that waits next; the events of
/// others are merged.
///
/// > Threading: Any thread, except where a member says otherwise.
final class EventSlot<Element: Sendable>: Sendable {
    private let state = Guarded(SlotState<Element>())
    private let merge: @Sendable (Element, Element) -> Element

    /// Creates a slot.
    ///
    /// - Parameter merge: Makes one element of two that nobody waited for.
    init(merging merge: @escaping @Sendable (Element, Element) -> Element) { self.merge = merge }

    // MARK: The source

    /// Gives an element to the task that waits, or keeps it for the next one that does.
    ///
    /// - Returns: Whether a task waited for it.
    @discardableResult
    func deliver(_ element: Element) -> Bool {
        let waiting = state.withLock { $0.offer(element, merging: merge) }
        waiting?.perform()
        return waiting != nil
    }

    /// Gives an element to the task that waits; if none does, keeps it and takes the source out of
    /// its mode.
    ///
    /// If a task begins to wait meanwhile, this call adds the source again.
    ///
    /// > Threading: The loop's own thread.
    func deliver(_ element: Element, leave: () -> Void, rejoin: () -> Void) {
        guard !deliver(element) else { return }
        guard state.withLock({ $0.leaveIfUnattended() }) else { return }
        leave()
        if state.withLock({ $0.didLeave() }) { rejoin() }
    }

    /// Whether the sequence has ended, apart from an element that is kept.
    var isFinished: Bool { state.withLock { $0.intake.isFinished } }

    /// Whether an element is kept, or a task has the latest one and has not asked for the next.
    var isInUse: Bool { state.withLock { $0.isTaken || $0.intake.isFull } }

    /// Ends the sequence; an element that is kept is still given out.
    func finish() { state.withLock { $0.intake.finish() }?.perform() }

    /// Ends the sequence, and drops an element that is kept.
    ///
    /// - Parameter release: Called before a task that waits is resumed.
    func end(_ release: () -> Void = {}) {
        let (resumption, dropped) = state.withLock { $0.intake.endAtOnce() }
        release()
        resumption?.perform()
        withExtendedLifetime(dropped) {}
    }

    // MARK: The task

    /// Takes the element that nobody waited for, or the end; returns `nil` if there is neither.
    ///
    /// For a task that was cancelled, that is the end, and the element stays.
    func take() -> Result<Element?, Never>? {
        state.withLock { $0.take(isCancelled: Task.isCancelled) }
    }

    /// Gives a task what is there, or has it wait.
    func begin(_ task: TaskIntake<Element, Never>.Waiter, rejoin: () -> Void) {
        let (resumption, isMissed) = state.withLock { state in
            let resumption = state.begin(task)
            return (resumption, resumption == nil && state.rejoinIfOut())
        }
        resumption?.perform()
        if isMissed { rejoin() }
    }

    /// Ends a wait whose task was cancelled.
    func cancel(_ wait: WaitNumber) { state.withLock { $0.intake.cancel(wait) }?.perform() }
}

private struct SlotState<Element: Sendable> {
    typealias Intake = TaskIntake<Element, Never>

    /// Whether the source is in its mode.
    private enum Presence {
        case inMode
        /// The loop's thread is taking it out.
        case leaving
        case out
    }

    var intake = Intake()
    /// Whether a task has the latest element, and has not asked for the next.
    private(set) var isTaken = false
    private var presence = Presence.inMode

    /// Gives an element to the task that waits, or keeps it.
    mutating func offer(
        _ element: Element,
        merging merge: (Element, Element) -> Element
    ) -> Intake.Resumption? {
        let resumption = intake.offer(element, merging: merge)
        if resumption != nil { isTaken = true }
        return resumption
    }

    /// A task asks for what is there; one that was cancelled gets the end.
    mutating func take(isCancelled: Bool) -> Intake.Outcome? {
        // Another one may have the latest element by now.
        if isCancelled { return .success(nil) }
        let outcome = intake.take()
        if case .success(.some) = outcome { isTaken = true } else { isTaken = false }
        return outcome
    }

    /// A task waits, unless there is something for it.
    mutating func begin(_ task: Intake.Waiter) -> Intake.Resumption? {
        let isKept = intake.isFull
        let resumption = intake.begin(task)
        // The task has asked before; one that was cancelled since has nothing, and ends no use of
        // another's.
        if isKept, !intake.isFull { isTaken = true }
        return resumption
    }

    /// A task waits; returns whether the source has to be added again.
    mutating func rejoinIfOut() -> Bool {
        guard case .out = presence else { return false }
        presence = .inMode
        return true
    }

    /// Begins to take the source out, unless a task waits.
    mutating func leaveIfUnattended() -> Bool {
        guard !intake.isWaiting, !intake.isFinished, case .inMode = presence else { return false }
        presence = .leaving
        return true
    }

    /// The source is out of its mode; returns whether it has to be added again.
    mutating func didLeave() -> Bool {
        presence = intake.isWaiting ? .inMode : .out
        return intake.isWaiting
    }
}

/// Ends a sequence when the handler that holds it is released: when its source becomes invalid.
final class SlotFinisher<Element: Sendable>: Sendable {
    let slot: EventSlot<Element>
    private let prepare: @Sendable () -> Void

    /// Creates a finisher.
    ///
    /// - Parameters:
    ///   - slot: The slot of the sequence.
    ///   - prepare: Called before the sequence ends; it may deliver a last element.
    init(_ slot: EventSlot<Element>, preparedBy prepare: @escaping @Sendable () -> Void) {
        self.slot = slot
        self.prepare = prepare
    }

    deinit {
        prepare()
        slot.finish()
    }
}
