import Synchronization

extension UVRunLoop {
    /// An input source that the kernel signals: Apple's port-based input source.
    ///
    /// ``DescriptorSource`` is one. The protocol is closed: only this library can make a
    /// ``PortLink``.
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
        }

        let descriptor: CInt
        let events: DescriptorSource.Events
        let order: Int
        let state = Guarded(State())
        let validity = Atomic<Bool>(true)
        /// How many of the port's calls are on the stack; a port that is being called is not
        /// served.
        private let callDepth = Atomic<Int>(0)
        /// Traps unless the port's handler may be called on a thread.
        let checkHome: @Sendable (ThreadIdentity) -> Void
        /// Calls the port's handler; answers `false` if that was let go.
        let deliver: @Sendable (any PortSource, DescriptorSource.Events) -> Bool
        /// Lets the port's handler go.
        let letGo: @Sendable (UVRunLoop?) -> Void

        init(
            descriptor: CInt,
            events: DescriptorSource.Events,
            order: Int,
            checkHome: @escaping @Sendable (ThreadIdentity) -> Void,
            deliver: @escaping @Sendable (any PortSource, DescriptorSource.Events) -> Bool,
            letGo: @escaping @Sendable (UVRunLoop?) -> Void
        ) {
            self.descriptor = descriptor
            self.events = events
            self.order = order
            self.checkHome = checkHome
            self.deliver = deliver
            self.letGo = letGo
        }

        func callWillBegin() { callDepth.add(1, ordering: .relaxed) }

        func callDidEnd() { callDepth.subtract(1, ordering: .relaxed) }

        var isBeingCalled: Bool { callDepth.load(ordering: .relaxed) > 0 }
    }
}
