import Synchronization
import UVRunLoop

/// The messages that wait in the loops, for whoever wants to take one back.
///
/// A loop's are touched by its own thread alone; they are entered while their sources are in its
/// modes, and so are gone when it ends.
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

    static func cancel(in loop: UVRunLoop, where isMeant: (Message) -> Bool) {
        let meant = MessageSlot.slot(of: loop)?.messages.values.filter(isMeant) ?? []
        for message in meant { message.source.invalidate() }
    }
}

/// Where the messages of one loop are, while it has any.
///
/// There are as many slots as loops had messages at the same time. No loop ever waits for another
/// one to find its slot, and a forked child for none of its parent's: what other threads had at
/// that moment stays theirs.
private final class MessageSlot: Sendable {
    private final class Messages {
        var byNumber: [Int: WaitingMessages.Message] = [:]
    }

    /// What tells the loop from others that exist; 0 for a slot that is free.
    private let owner = Atomic<UInt>(0)
    private let next = AtomicLazyReference<MessageSlot>()
    /// The owner's thread alone gets at it, so the lock is never contended.
    private let content = Guarded<ThreadBound<Messages>?>(nil)

    /// The first of each chain: loops are spread over some, so that chains stay short.
    private static let chains = (0..<64).map { _ in MessageSlot() }

    /// The slot of a loop, on its thread; `nil` when it has none and none is to be made.
    static func slot(of loop: UVRunLoop, makes: Bool = false) -> MessageSlot? {
        let id = UInt(bitPattern: ObjectIdentifier(loop))
        // The lowest bits are the same for all objects.
        let first = chains[Int((id >> 4) % UInt(chains.count))]
        var found: MessageSlot? = first
        while let slot = found {
            if slot.owner.load(ordering: .acquiring) == id { return slot }
            found = slot.next.load()
        }
        return makes ? first.claim(id) : nil
    }

    /// The first slot that is free from here on.
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

    /// Changes the messages, and gives the slot back when none are left.
    func change<Result>(_ body: (inout [Int: WaitingMessages.Message]) -> Result) -> Result {
        let box = box ?? makeBox()
        let result = body(&box.byNumber)
        if box.byNumber.isEmpty {
            content.withLock { $0 = nil }
            owner.store(0, ordering: .releasing)
        }
        return result
    }

    private var box: Messages? { content.withLock { $0 }?.value }

    private func makeBox() -> Messages {
        let box = Messages()
        let bound = ThreadBound(box)
        content.withLock { $0 = bound }
        return box
    }
}
