import Synchronization
import UVRunLoop

/// The pending messages of all loops, kept so that they can be cancelled.
///
/// Each loop's messages are used on its thread only. A message is listed while its source is in a
/// mode of the loop, so none is left when the loop ends.
enum WaitingMessages {
    struct Message {
        let source: UVRunLoop.Source
        let target: AnyObject
        let argument: AnyHashable?
    }

    private static let count = Atomic<Int>(0)

    static func nextNumber() -> Int { count.add(1, ordering: .relaxed).newValue }

    static func keep(_ message: Message, _ number: Int, in loop: UVRunLoop) {
        MessageSlot.slot(of: loop, makes: true)?.change { $0[number] = message }
    }

    static func forget(_ number: Int, in loop: UVRunLoop) {
        guard let slot = MessageSlot.slot(of: loop) else { return }
        let message = slot.change { $0.removeValue(forKey: number) }
        withExtendedLifetime(message) {}
    }

    static func cancel(in loop: UVRunLoop, where matches: (Message) -> Bool) {
        let cancelled = MessageSlot.slot(of: loop)?.messages.values.filter(matches) ?? []
        for message in cancelled { message.source.invalidate() }
    }
}

/// The pending messages of one loop.
///
/// There are as many slots as loops that had messages at the same time. A loop finds its slot
/// without a lock, so it waits for no other loop, and a forked child for no thread of its parent:
/// slots that other threads had at the fork stay occupied.
private final class MessageSlot: Sendable {
    private final class Messages {
        var byNumber: [Int: WaitingMessages.Message] = [:]
    }

    /// The address of the loop; 0 for a free slot.
    private let owner = Atomic<UInt>(0)
    private let next = AtomicLazyReference<MessageSlot>()
    /// Used on the owner's thread only, so the lock is never contended.
    private let content = Guarded<HomeBound<Messages>?>(nil)

    /// The heads of the chains: loops are spread over several, so that chains stay short.
    private static let chains = (0..<64).map { _ in MessageSlot() }

    /// The slot of a loop, on its thread; `nil` if it has none and `makes` is `false`.
    static func slot(of loop: UVRunLoop, makes: Bool = false) -> MessageSlot? {
        let id = UInt(bitPattern: ObjectIdentifier(loop))
        // Alignment makes the lowest bits the same for all objects.
        let first = chains[Int((id >> 4) % UInt(chains.count))]
        var found: MessageSlot? = first
        while let slot = found {
            if slot.owner.load(ordering: .acquiring) == id { return slot }
            found = slot.next.load()
        }
        return makes ? first.claim(id) : nil
    }

    /// Takes the first free slot of the chain, or appends one.
    private func claim(_ id: UInt) -> MessageSlot {
        var slot = self
        while !slot.owner.compareExchange(
            expected: 0,
            desired: id,
            ordering: .acquiringAndReleasing
        ).exchanged {
            slot = slot.next.load() ?? slot.next.storeIfNil(MessageSlot())
        }
        return slot
    }

    var messages: [Int: WaitingMessages.Message] { box?.byNumber ?? [:] }

    /// Changes the messages, and frees the slot when none are left.
    func change<Result>(_ body: (inout [Int: WaitingMessages.Message]) -> Result) -> Result {
        let box = box ?? makeBox()
        let result = body(&box.byNumber)
        if box.byNumber.isEmpty {
            content.withLock { $0 = nil }
            owner.store(0, ordering: .releasing)
        }
        return result
    }

    private var box: Messages? { content.withLock { $0 }?.current }

    private func makeBox() -> Messages {
        let box = Messages()
        let bound = HomeBound(box)
        content.withLock { $0 = bound }
        return box
    }
}
