/// A thread or a task that waits for room in a port's queue.
protocol WaitingSender: AnyObject, Sendable {
    /// Whether it is a task, which cannot look for room by itself.
    var isTask: Bool { get }

    /// Called once, while no lock is held: the wait is over.
    ///
    /// - Parameter isSent: Whether the message was queued; `false` if the port is invalid.
    func endWait(isSent: Bool)

    /// Called while no lock is held: only this sender may be able to make room by now, or it may
    /// have to look for room by itself.
    func checkWait()
}

/// The senders that wait for room in a port's queue, in the order in which they began to, with
/// their messages.
struct SenderQueue {
    struct Entry {
        let message: UVRunLoop.PortMessage
        let sender: any WaitingSender
        fileprivate let process = OwnerProcess()
    }

    private var entries: [Entry?] = []
    /// The index of the first entry that may still wait.
    private var first = 0
    /// How many entries were before those in the array: an entry's number is its index and that.
    private var removed = 0
    /// The entries of a process that forked this one, whose senders are not in this one.
    ///
    /// They are released with the queue.
    private var inherited: [Entry] = []
    private var count = 0

    var isEmpty: Bool { count == 0 }

    /// Adds a sender; returns its number.
    mutating func append(_ message: UVRunLoop.PortMessage, _ sender: any WaitingSender) -> Int {
        entries.append(Entry(message: message, sender: sender))
        count += 1
        return removed + entries.count - 1
    }

    /// Removes a sender, to be released without the lock; `nil` if it does not wait any more.
    mutating func remove(_ number: Int) -> Entry? {
        let index = number - removed
        guard index >= first, let entry = exchange(&entries[index], with: nil) else { return nil }
        count -= 1
        return entry
    }

    /// Takes the sender that has waited longest.
    mutating func takeFirst() -> Entry? {
        while first < entries.count {
            let entry = exchange(&entries[first], with: nil)
            first += 1
            dropFront()
            guard let entry else { continue }
            count -= 1
            if entry.process.isCurrent { return entry }
            inherited.append(entry)
        }
        return nil
    }

    /// Takes all senders.
    mutating func takeAll() -> [Entry] {
        var taken: [Entry] = []
        while let entry = takeFirst() { taken.append(entry) }
        return taken
    }

    /// The senders that wait.
    var waiting: [any WaitingSender] {
        entries[first...].compactMap { $0?.sender }
    }

    /// Frees the room of the entries that were taken, once that is worth moving the others.
    private mutating func dropFront() {
        guard first >= 32, first * 2 >= entries.count else { return }
        entries.removeFirst(first)
        removed += first
        first = 0
    }
}
