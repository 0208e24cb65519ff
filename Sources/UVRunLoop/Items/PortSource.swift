import Synchronization

extension UVRunLoop {
    /// An input source that somebody else signals, the kernel or another port's sender: Apple's
    /// port-based input source.
    ///
    /// ``DescriptorSource``, ``Port`` and ``SignalSource`` are some. The protocol is closed: only
    /// this package can make a ``PortLink``.
    ///
    /// > Threading: Any thread.
    public protocol PortSource: AnyObject, Sendable {
        /// What a loop knows the port by.
        var link: PortLink { get }
    }

    /// What connects a port-based source with its loop.
    ///
    /// > Threading: Any thread.
    public final class PortLink: Sendable {
        struct State {
            var loop: UVRunLoop?
            var ticket = Ticket.none
            /// What the kernel is asked for, once that has changed.
            var events: DescriptorSource.Events?
        }

        /// What the kernel is asked about; `nil` for a port that only ``announce()`` announces.
        package let descriptor: CInt?
        /// What the kernel is asked for at first.
        let events: DescriptorSource.Events
        package let order: Int
        /// Whether the port keeps its modes from being empty, at first.
        let keepsModes: Bool
        let state = Guarded(State())
        let validity = Atomic<Bool>(true)
        /// Whether the port's handler is on the stack, for the loop that it is moved to meanwhile.
        private let callFlag = Atomic<Bool>(false)
        let receiver: any PortReceiver

        package init(
            descriptor: CInt?,
            events: DescriptorSource.Events,
            order: Int,
            keepsModes: Bool = true,
            receiver: any PortReceiver
        ) {
            self.descriptor = descriptor
            self.events = events
            self.order = order
            self.keepsModes = keepsModes
            self.receiver = receiver
        }

        /// Whether the port was not invalidated, and the kernel did not refuse it.
        package var isValid: Bool { validity.load(ordering: .acquiring) }

        /// The loop that the port is in.
        package var loop: UVRunLoop? { state.withLock(\.loop) }

        /// Has the loop serve the port for something that the kernel does not know of, and wakes
        /// it if it sleeps.
        ///
        /// Several calls before the port is served are one. A port that is in no loop is asked for
        /// ``PortReceiver/isReady`` when it is added to one. No lock may be held that the answer
        /// needs.
        ///
        /// > Threading: Any thread.
        package func announce() {
            let loop = state.withLock { state in
                state.loop?.withEngine { $0.announce(state.ticket) }
                return state.loop
            }
            loop?.waker.portDidAnnounce()
        }

        /// Has the kernel asked for other events than until now.
        ///
        /// The loop's next look or sleep goes by them. A source that is off after a hang-up is on
        /// again.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter events: Answers what to ask for. It is called under the link's lock, so that
        ///   of several threads that ask the latest answer holds.
        package func setEvents(_ events: () -> DescriptorSource.Events) {
            let loop = state.withLock { state in
                let events = events()
                state.events = events
                state.loop?.withEngine { $0.setEvents(events, of: state.ticket) }
                return state.loop
            }
            loop?.contentsDidChange()
        }

        /// Has the port keep its modes from being empty, or no longer.
        ///
        /// > Threading: The loop's own thread, which learns of it without being woken.
        package func setKeepsModes(_ keepsModes: Bool) {
            state.withLock { state in
                state.loop?.withEngine { $0.setKeepsModes(keepsModes, state.ticket) }
            }
        }

        var isBeingCalled: Bool {
            get { callFlag.load(ordering: .relaxed) }
            set { callFlag.store(newValue, ordering: .relaxed) }
        }
    }
}

/// What a port-based source does when its loop serves it.
@usableFromInline
package protocol PortReceiver: AnyObject, Sendable {
    /// Traps unless the port's handler may be called on a thread.
    func checkHome(is thread: ThreadIdentity)

    /// Whether something waits that the kernel does not know of.
    ///
    /// Asked under the link's lock when the port is added to a loop.
    var isReady: Bool { get }

    /// Whether work that was handed to the port is under way, which a thread that stops after its
    /// queued work awaits.
    ///
    /// It may become `true` at any time. When it becomes `false`, the loop is serving the port, or
    /// the port is invalid.
    var isFinishing: Bool { get }

    /// Handles one event, on the loop's thread.
    ///
    /// - Parameters:
    ///   - port: The source, of a type that the receiver knows.
    ///   - events: What the kernel reported; empty for what ``UVRunLoop/PortLink/announce()``
    ///     announced.
    /// - Returns: What the pass is to make of it.
    func receive(
        _ port: any AnyObject & Sendable,
        _ events: UVRunLoop.DescriptorSource.Events
    ) -> ServeResult

    /// Handles more events of a port that has more, which the passes to come would bring one by
    /// one.
    ///
    /// - Parameters:
    ///   - port: The source, of a type that the receiver knows.
    ///   - mayGoOn: To be asked before each event.
    /// - Returns: What the pass is to make of it.
    func receiveMore(_ port: any AnyObject & Sendable, while mayGoOn: () -> Bool) -> ServeResult

    /// Told when other ports are served, the port has no more, the run ends, or a handler runs the
    /// loop again.
    func servingDidEnd()

    /// Lets the port's handler go: the port is invalid.
    ///
    /// - Parameter loop: The loop it was in.
    func releaseHandler(in loop: UVRunLoop?)

    /// Told on the loop's thread that the loop has ended and the port is in none.
    func loopDidEnd(_ port: any UVRunLoop.PortSource)
}

extension PortReceiver {
    package var isReady: Bool { false }

    package var isFinishing: Bool { false }

    package func receiveMore(
        _ port: any AnyObject & Sendable,
        while mayGoOn: () -> Bool
    ) -> ServeResult {
        var answer = ServeResult(wasHandled: true, hasMore: true)
        while answer.hasMore, mayGoOn() { answer = receive(port, []) }
        return answer
    }

    package func servingDidEnd() {}

    package func loopDidEnd(_ port: any UVRunLoop.PortSource) {}
}

/// What became of an event that a port was served.
@usableFromInline
package struct ServeResult {
    /// Whether it counts as a handled source.
    package var wasHandled: Bool
    /// Whether there is more for the port that the kernel may know nothing of.
    @usableFromInline package var hasMore: Bool

    @usableFromInline
    package init(wasHandled: Bool, hasMore: Bool = false) {
        self.wasHandled = wasHandled
        self.hasMore = hasMore
    }
}
