import TestSupport

@testable import UVRunLoop

/// A sender that waits for room in a port's queue, and records what it is told.
final class RecordingSender: WaitingSender {
    let isTask: Bool
    let ends = SharedBox<[Bool]>([])
    let checks = Counter()
    /// Its number in the line; `nil` if it did not have to wait.
    let number = SharedBox<Int?>(nil)

    init(isTask: Bool = true) { self.isTask = isTask }

    /// Waits with a message of this number.
    convenience init(_ id: Int32, isTask: Bool = true, on inbox: PortInbox) {
        self.init(isTask: isTask)
        let posting = inbox.post(UVRunLoop.PortMessage(id: id), orWait: self)
        if case .waits(let number) = posting { self.number.value = number }
    }

    func endWait(isSent: Bool) { ends.value.append(isSent) }

    func checkWait() { checks.add() }
}
