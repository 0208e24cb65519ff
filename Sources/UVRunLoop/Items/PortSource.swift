import Synchronization

extension UVRunLoop {
    /// An input source that the kernel or a sender signals: Apple's port-based input source.
    ///
    /// For example ``DescriptorSource``, ``Port`` and ``SignalSource``. The protocol is closed:
    /// only this package can create a ``PortLink``.
    ///
    /// > Threading: Any thread.
    public protocol PortSource: AnyObject, Sendable {
        /// The link through which a loop serves the port.
        var link: PortLink { get }
    }

    /// The connection between a port-based source and its loop.
    ///
    /// > Threading: Any thread.
    public final class PortLink: Sendable {
        /// The watched descriptor; `nil` for a port that only ``announce()`` makes ready.
        package let descriptor: CInt?
        /// Whether the messages come from this process; only then do senders wait for room.
        var isInProcess: Bool { descriptor == nil }
        private let eventBits: Atomic<UInt8>
        /// The events to watch for.
        var events: DescriptorSource.Events {
            DescriptorSource.Events(rawValue: eventBits.load(ordering: .relaxed))
        }
        package let order: Int
        /// Whether the port keeps its modes from being empty, at first.
        let keepsModes: Bool
        /// Whether the port is announced for a libuv handle, which a poll may find ready.
        let isHosted: Bool
        let owner = ItemOwner()
        private let ticketInLoop = ItemTicket()
        let labelSlot = LabelSlot()
        private let callFlag = Atomic<Bool>(false)
        package let receiver: any PortReceiver
        let useMark: UseMark

        package init(
            descriptor: CInt?,
            events: DescriptorSource.Events,
            order: Int,
            keepsModes: Bool = true,
            isHosted: Bool = false,
            warnsAs kind: StaticString? = nil,
            receiver: any PortReceiver
        ) {
            self.descriptor = descriptor
            eventBits = Atomic(events.rawValue)
            self.order = order
            self.keepsModes = keepsModes
            self.isHosted = isHosted
            useMark = UseMark(kind)
            self.receiver = receiver
        }

        /// The port's ticket in its loop, under that loop's lock.
        var ticket: Ticket {
            get { ticketInLoop.value }
            set { ticketInLoop.value = newValue }
        }

        /// Whether the port was not invalidated, and the kernel did not refuse it.
        package var isValid: Bool { owner.isValid }

        /// The loop that the port is in.
        package var loop: UVRunLoop? { owner.location.loop }

        /// Traps if the port is in a loop of the process that forked this one.
        package func checkProcess() { owner.location.checkProcess() }

        /// Makes the port ready for an event that the kernel does not report, and wakes the loop.
        ///
        /// Several calls before the port is served count once. A port in no loop is asked for
        /// ``PortReceiver/isReady`` when it is added to one.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter isOfPoll: Whether the loop's latest poll has found the event, and the port
        ///   takes its place among those that it reported.
        package func announce(ofPoll isOfPoll: Bool = false) {
            owner.withLock { _, engine in
                engine.announce(ticket, ofPoll: isOfPoll)
            } nowhere: {
            } afterwards: { loop in
                loop.portDidAnnounce()
            }
        }

        /// Changes the events to watch for.
        ///
        /// They hold from the loop's next poll or sleep on. A source that has received a hang-up
        /// gets events again.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter events: Returns the events. It is called without a lock, and again until it
        ///   returns what was set, because several threads may change the events at once.
        package func setEvents(_ events: () -> DescriptorSource.Events) {
            var set: DescriptorSource.Events
            repeat {
                set = events()
                eventBits.store(set.rawValue, ordering: .relaxed)
                owner.withLock { _, engine in
                    engine.setEvents(set, of: ticket)
                } nowhere: {
                } afterwards: { loop in
                    loop.contentsDidChange()
                }
            } while events() != set
        }

        /// Sets whether the port keeps its modes from being empty.
        ///
        /// > Threading: The loop's own thread; the loop is not woken.
        package func setKeepsModes(_ keepsModes: Bool) {
            owner.withLock { _, engine in
                engine.setKeepsModes(keepsModes, ticket)
            } nowhere: {
            }
        }

        /// Whether the port's handler is running; guarded by ``owner``.
        ///
        /// Not in a loop's record, because a port may move to another loop during the call.
        var isBeingCalled: Bool {
            get { callFlag.load(ordering: .relaxed) }
            set { callFlag.store(newValue, ordering: .relaxed) }
        }
    }
}

/// The behaviour of a port-based source when its loop serves it.
@usableFromInline
package protocol PortReceiver: AnyObject, Sendable {
    /// Traps unless the port's handler may be called on a thread.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - caller: Returns what the message of the trap names.
    func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller)

    /// Whether an event is pending that the kernel does not report.
    ///
    /// Asked without a lock when the port was added to a loop. So a sender stores its event under
    /// the lock that this takes, and announces the port afterwards: either this finds the event, or
    /// the sender finds the port in the loop.
    var isReady: Bool { get }

    /// Whether the port still has queued work, for which a thread that stops after its queued work
    /// waits.
    ///
    /// It may become `true` at any time. When it becomes `false`, the loop is serving the port, or
    /// the port is invalid.
    var isFinishing: Bool { get }

    /// Handles one event, on the loop's thread.
    ///
    /// - Parameters:
    ///   - port: The source, of a type that the receiver knows.
    ///   - events: The reported events; empty after ``UVRunLoop/PortLink/announce()``.
    /// - Returns: The result for the pass.
    func receive(
        _ port: any AnyObject & Sendable,
        _ events: UVRunLoop.DescriptorSource.Events
    ) -> ServeResult

    /// Whether the port stays in its loop when the kernel refuses to watch its descriptor, because
    /// it has other events, or tells the refusal as one of its own; otherwise it is invalid then.
    var outlivesRefusal: Bool { get }

    /// Handles the kernel's refusal to watch the descriptor, on the loop's thread.
    ///
    /// - Parameters:
    ///   - port: The source, of a type that the receiver knows.
    ///   - error: The kernel's error.
    /// - Returns: The result for the pass.
    func receive(_ port: any AnyObject & Sendable, refusal error: UVError) -> ServeResult

    /// Handles more events of a port, which coming passes would deliver one by one.
    ///
    /// - Parameters:
    ///   - port: The source, of a type that the receiver knows.
    ///   - mayGoOn: To be called before each event.
    /// - Returns: The result for the pass.
    func receiveMore(_ port: any AnyObject & Sendable, while mayGoOn: () -> Bool) -> ServeResult

    /// Wakes the senders that wait for room, because there is some; only for a port without a
    /// descriptor. `LocalState.busyReceiver` says when.
    func wakeBlockedSenders()

    /// Releases the port's handler; the port is invalid.
    func releaseHandler()

    /// Called on the loop's thread after the loop has ended; the port is in none.
    func loopDidEnd(_ port: any UVRunLoop.PortSource)
}

extension PortReceiver {
    package var isReady: Bool { false }

    package var isFinishing: Bool { false }

    package var outlivesRefusal: Bool { false }

    package func wakeBlockedSenders() {}
}

/// The result of serving a port an event.
@usableFromInline
package struct ServeResult {
    /// Whether the port counts as a handled source.
    package var wasHandled: Bool
    /// Whether the port has more events, which the kernel may not report.
    @usableFromInline package var hasMore: Bool

    @usableFromInline
    package init(wasHandled: Bool, hasMore: Bool = false) {
        self.wasHandled = wasHandled
        self.hasMore = hasMore
    }
}
