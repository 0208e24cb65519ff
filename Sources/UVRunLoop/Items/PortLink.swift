import Synchronization

extension UVRunLoop {
    /// The connection between a port-based source and its loop.
    ///
    /// > Threading: Any thread.
    public final class PortLink: Sendable {
        /// The watched descriptor; `nil` for a port that only ``announce(ofPoll:)`` makes ready.
        package let descriptor: CInt?
        /// Whether senders may wait for room in the port: those of a descriptor wait in the kernel.
        var mayBlockSenders: Bool { descriptor == nil }
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
        let ticket = ItemTicket()
        let labelBox = LabelBox()
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
                engine.announce(ticket.value, ofPoll: isOfPoll)
            } nowhere: {
            } afterwards: { loop in
                loop.portDidAnnounce()
            }
        }

        /// Whether it was served, and a skipped poll would have found it if it has stayed ready.
        package var isExpected: Bool {
            owner.withLock { _, engine in
                engine.isExpected(ticket.value)
            } nowhere: {
                false
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
                var waitsForMore = false
                owner.withLock { _, engine in
                    waitsForMore = engine.setEvents(set, of: ticket.value)
                } nowhere: {
                } afterwards: { loop in
                    if waitsForMore { loop.portWasAdded() } else { loop.contentsDidChange() }
                }
            } while events() != set
        }

        /// Sets whether the port keeps its modes from being empty.
        ///
        /// > Threading: The loop's own thread; the loop is not woken.
        package func setKeepsModes(_ keepsModes: Bool) {
            owner.withLock { _, engine in
                engine.setKeepsModes(keepsModes, ticket.value)
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
