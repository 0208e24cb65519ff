import UVRunLoop

/// Serves a libuv source: calls its handler with the events of the inbox, one per pass, or gives
/// them to a task.
final class EventReceiver<Source: UVRunLoop.PortSource, Event: Sendable>: PortReceiver {
    typealias Port = Source

    let inbox: EventInbox<Event>
    private let process = OwnerProcess()
    private let handler: HomeBound<(Source, Event) -> Void>?
    /// The libuv handles that belong to the source.
    private let handles: [LoopHandle]
    /// Called on any thread when an event was taken.
    private let didTake: @Sendable () -> Void
    /// Called when the source becomes invalid.
    private let didRelease: @Sendable () -> Void
    /// Called when the descriptor of the source's link is ready.
    private let descriptorIsReady: @Sendable (Source, UVRunLoop.DescriptorEvents) -> Void
    /// Called when the kernel refuses to watch that descriptor; leaves the source's last event.
    private let watchWasRefused: @Sendable (Source, UVError) -> Void
    /// Whether an event is the source's last; called once for each that was taken.
    private let isLast: @Sendable (Event) -> Bool

    init(
        _ inbox: EventInbox<Event>,
        _ handles: [LoopHandle],
        _ handler: ((Source, Event) -> Void)?,
        descriptorIsReady: @escaping @Sendable (Source, UVRunLoop.DescriptorEvents) -> Void = {
            _,
            _ in
        },
        watchWasRefused: @escaping @Sendable (Source, UVError) -> Void = { _, _ in },
        didTake: @escaping @Sendable () -> Void = {},
        didRelease: @escaping @Sendable () -> Void = {},
        isLast: @escaping @Sendable (Event) -> Bool = { _ in false }
    ) {
        self.inbox = inbox
        self.handles = handles
        self.handler = handler.map { HomeBound($0) }
        self.descriptorIsReady = descriptorIsReady
        self.watchWasRefused = watchWasRefused
        self.didTake = didTake
        self.didRelease = didRelease
        self.isLast = isLast
        if handler == nil { inbox.beginTaking() }
    }

    /// Makes the link of the source, and gives it to the handles; called once.
    ///
    /// - Parameters:
    ///   - descriptor: A descriptor that the loop watches besides the handles.
    ///   - order: The source's order.
    ///   - kind: What the source is, with an article, for the warning of unused items.
    /// - Returns: The link.
    func makeLink(
        watching descriptor: CInt? = nil,
        order: Int,
        warnsAs kind: StaticString
    ) -> UVRunLoop.PortLink {
        let link = UVRunLoop.PortLink(
            descriptor: descriptor,
            events: descriptor == nil ? [] : .readable,
            order: order,
            isHosted: !handles.isEmpty,
            warnsAs: kind,
            receiver: self
        )
        for handle in handles { handle.link = link }
        return link
    }

    /// Traps in a forked child, which shares the kernel's objects with its parent.
    func checkProcess() {
        require(
            process.isCurrent,
            "This source belongs to the parent process. Create a new one in this process."
        )
    }

    /// The source is bound to the loop in which its handles are, whose thread has created it.
    func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {
        checkProcess()
        handles.first?.checkHome(is: thread, caller)
        handler?.home.check(is: thread, caller)
    }

    var isReady: Bool { inbox.canBeServed }

    func receive(
        port source: Source,
        _ events: UVRunLoop.DescriptorEvents
    ) -> ServeResult {
        if !events.isEmpty { descriptorIsReady(source, events) }
        return serveEvent(of: source)
    }

    /// The refusal is an event, after those that wait.
    var outlivesRefusal: Bool { true }

    func receive(port source: Source, refusal error: UVError) -> ServeResult {
        watchWasRefused(source, error)
        return serveEvent(of: source)
    }

    private func serveEvent(of source: Source) -> ServeResult {
        let wasHandled = inbox.isTakenByTask ? inbox.giveToTask() : callHandler(of: source)
        if wasHandled { eventWasTaken() }
        return ServeResult(wasHandled: wasHandled, hasMore: source.link.isValid && isReady)
    }

    private func callHandler(of source: Source) -> Bool {
        guard let body = handler?.current, let event = inbox.take() else { return false }
        body(source, event)
        if isLast(event) { UVRunLoop.invalidate(source) }
        return true
    }

    private func eventWasTaken() {
        didTake()
        for handle in handles { handle.roomWasMade() }
    }

    func releaseHandler() {
        // First: an event that is taken may need what is released here.
        let endSequence = inbox.close()
        didRelease()
        for handle in handles { handle.closeFromAnyThread() }
        endSequence()
        handler?.release()
    }

    func loopDidEnd(port source: Source) { UVRunLoop.invalidate(source) }

    // MARK: A task

    /// Waits for the next event, which the loop serves in the source's modes.
    func next(
        of link: UVRunLoop.PortLink,
        isolation: isolated (any Actor)?
    ) async -> Event? {
        checkProcess()
        guard let event = await inbox.next(on: link.loop, isolation: isolation) else { return nil }
        eventWasTaken()
        if isLast(event) { UVRunLoop.invalidate(link) }
        return event
    }
}
