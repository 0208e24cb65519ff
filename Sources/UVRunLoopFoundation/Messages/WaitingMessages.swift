import Synchronization
import UVRunLoop

/// The messages that wait in the loops, for whoever wants to take one back.
///
/// A loop's are touched by its own thread alone; they are entered while their sources are in its
/// modes, and so are gone when it ends.
final class WaitingMessages {
    struct Message {
        let source: UVRunLoop.Source
        let target: AnyObject
        let argument: AnyHashable?
    }

    private var messages: [Int: Message] = [:]

    private static let count = Atomic<Int>(0)
    private static let loops = Guarded<[ObjectIdentifier: ThreadBound<WaitingMessages>]>([:])

    static func nextNumber() -> Int { count.add(1, ordering: .relaxed).newValue }

    static func keep(_ message: Message, _ number: Int, in loop: UVRunLoop) {
        let waiting = of(loop) ?? WaitingMessages()
        let bound = ThreadBound(waiting)
        waiting.messages[number] = message
        loops.withLock { $0[ObjectIdentifier(loop)] = bound }
    }

    static func forget(_ number: Int, in loop: UVRunLoop) {
        guard let waiting = of(loop) else { return }
        let message = waiting.messages.removeValue(forKey: number)
        if waiting.messages.isEmpty {
            loops.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(loop)) }
        }
        withExtendedLifetime(message) {}
    }

    static func cancel(in loop: UVRunLoop, where isMeant: (Message) -> Bool) {
        let meant = of(loop)?.messages.values.filter(isMeant) ?? []
        for message in meant { message.source.invalidate() }
    }

    private static func of(_ loop: UVRunLoop) -> WaitingMessages? {
        loops.withLock { $0[ObjectIdentifier(loop)] }?.value
    }
}
