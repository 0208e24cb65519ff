/// What has happened since one task last asked, merged into one element.
///
/// There is no buffer: the source of the events is taken out of its mode at the first event that
/// nobody waits for, and added again by the task that waits next.
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
        let waiting = state.withLock { state -> WaitingTask<Element?>? in
            guard !state.isFinished else { return nil }
            if let task = state.waiting.take() { return task }
            state.pending = state.pending.map { merge($0, element) } ?? element
            return nil
        }
        guard let waiting else { return false }
        waiting.resume(returning: element)
        return true
    }

    /// Gives an element to the task that waits; if none does, keeps it and takes the source out of
    /// its mode.
    ///
    /// A task may begin to wait meanwhile. It leaves it to this call to add the source again.
    ///
    /// > Threading: The loop's own thread.
    func deliver(_ element: Element, leave: () -> Void, return comeBack: () -> Void) {
        guard !deliver(element) else { return }
        guard state.withLock({ $0.leaveIfUnattended() }) else { return }
        leave()
        if state.withLock({ $0.hasLeft() }) { comeBack() }
    }

    /// Ends the sequence; an element that is kept is still given out.
    func finish() {
        let waiting = state.withLock { state -> WaitingTask<Element?>? in
            state.isFinished = true
            return state.waiting.take()
        }
        waiting?.resume(returning: nil)
    }

    // MARK: The task

    /// Waits for the next element.
    ///
    /// - Parameters:
    ///   - loop: The loop of the source, on whose thread a task resumes that waits there.
    ///   - isolation: The caller's actor.
    ///   - comeBack: Adds the source to its mode again.
    /// - Returns: The element; `nil` if the sequence has ended or the task was cancelled.
    func next(
        on loop: UVRunLoop?,
        isolation: isolated (any Actor)?,
        return comeBack: () -> Void
    ) async -> Element? {
        if let element = state.withLock({ $0.pending.take() }) { return element }
        return await UVRunLoop.suspend(on: loop, isolation: isolation) { task in
            begin(task, return: comeBack)
        } onCancel: {
            endWait()
        }
    }

    private func begin(_ task: WaitingTask<Element?>, return comeBack: () -> Void) {
        switch state.withLock({ $0.begin(task) }) {
        case .done(let element): task.resume(returning: element)
        case .comeBack: comeBack()
        case .wait: break
        }
    }

    /// Ends the wait of a task that was cancelled.
    private func endWait() {
        let waiting = state.withLock { $0.waiting.take() }
        waiting?.resume(returning: nil)
    }
}

private struct SlotState<Element: Sendable> {
    /// Whether the source is in its mode.
    private enum Place {
        case inMode
        /// The loop's thread is taking it out.
        case leaving
        case out
    }

    /// What a task that begins to wait does next.
    enum Step {
        case done(Element?)
        case wait
        case comeBack
    }

    var pending: Element?
    var waiting: WaitingTask<Element?>?
    var isFinished = false
    private var place = Place.inMode

    /// Stores a task that waits, unless there is an element for it.
    mutating func begin(_ task: WaitingTask<Element?>) -> Step {
        if let element = pending.take() { return .done(element) }
        if isFinished { return .done(nil) }
        require(
            waiting == nil,
            "Two tasks wait for the same sequence. A sequence has one consumer."
        )
        waiting = task
        guard case .out = place else { return .wait }
        place = .inMode
        return .comeBack
    }

    /// Begins to take the source out, unless a task waits.
    mutating func leaveIfUnattended() -> Bool {
        guard waiting == nil, !isFinished, case .inMode = place else { return false }
        place = .leaving
        return true
    }

    /// The source is out of its mode; returns whether it has to be added again.
    mutating func hasLeft() -> Bool {
        place = waiting == nil ? .out : .inMode
        return waiting != nil
    }
}

extension EventSlot: LoopEndListener {
    func loopDidEnd() { finish() }
}

/// Ends a sequence when the handler that holds it is released: when its source becomes invalid.
final class SlotFinisher<Element: Sendable>: Sendable {
    let slot: EventSlot<Element>

    init(_ slot: EventSlot<Element>) { self.slot = slot }

    deinit { slot.finish() }
}
