/// A thread or a task that waits for room in a port's queue.
protocol WaitingSender: AnyObject, Sendable {
    /// Whether it is a task, which cannot look for room by itself.
    var isTask: Bool { get }

    /// Called once, while no lock is held: the wait is over.
    ///
    /// - Parameter isSent: Whether the message was queued; `false` if the port is invalid.
    func endWait(isSent: Bool)

    /// Called while no lock is held: only this sender may be able to make room by now, or it has to
    /// look for room by itself, unless it is a task.
    func checkWait()
}

/// The senders that wait for room in a port's queue, in the order in which they began to, with
/// their messages.
struct SenderQueue {
    struct Entry {
        let message: UVRunLoop.PortMessage
        let sender: any WaitingSender
    }

    private struct Place {
        let number: Int
        var entry: Entry?
    }

    /// The line; those that have left it leave their places empty.
    private var places: [Place] = []
    /// The index of the first place that is not empty.
    private var front = 0
    private var count = 0
    private var nextNumber = 0

    init() {}

    /// Makes a line whose senders get other numbers than those of a line.
    init(behind other: SenderQueue) { nextNumber = other.nextNumber }

    var isEmpty: Bool { count == 0 }

    /// How many places the line has, empty ones included.
    var length: Int { places.count }

    /// Adds a sender; returns its number.
    mutating func append(_ message: UVRunLoop.PortMessage, _ sender: any WaitingSender) -> Int {
        defer { nextNumber += 1 }
        let entry = Entry(message: message, sender: sender)
        places.append(Place(number: nextNumber, entry: entry))
        count += 1
        return nextNumber
    }

    /// Removes a sender, to be released without the lock; `nil` if it does not wait any more.
    mutating func remove(_ number: Int) -> Entry? {
        let index = (front..<places.count).lowestIndex { places[$0].number >= number }
        guard index < places.count, places[index].number == number else { return nil }
        defer { closeUp() }
        return empty(index)
    }

    /// Takes the sender that has waited longest.
    mutating func takeFirst() -> Entry? {
        guard front < places.count else { return nil }
        defer { closeUp() }
        return empty(front)
    }

    /// The sender that has waited longest, and its number.
    var first: (number: Int, sender: any WaitingSender)? {
        guard front < places.count, let entry = places[front].entry else { return nil }
        return (places[front].number, entry.sender)
    }

    /// Takes all senders.
    mutating func takeAll() -> [Entry] {
        var taken: [Entry] = []
        while let entry = takeFirst() { taken.append(entry) }
        return taken
    }

    /// The senders that wait.
    var waiting: [any WaitingSender] { places[front...].compactMap { $0.entry?.sender } }

    private mutating func empty(_ index: Int) -> Entry? {
        guard let entry = exchange(&places[index].entry, with: nil) else { return nil }
        count -= 1
        return entry
    }

    /// Passes over empty places, and drops them once there are as many as others, which have to be
    /// moved.
    private mutating func closeUp() {
        while front < places.count, places[front].entry == nil { front += 1 }
        guard places.count >= 32, places.count >= 2 * count else { return }
        places.removeAll { $0.entry == nil }
        front = 0
    }
}
