@testable import UVRunLoop

extension PortInbox {
    /// Takes all messages, and delivers so many of them; returns the numbers of all.
    @discardableResult
    func takeAll(delivering count: Int) -> [Int32] {
        var messages: [UVRunLoop.PortMessage?] = []
        takeAll(into: &messages)
        undelivered.value = messages.count - count
        return messages.compactMap { $0?.id }
    }

    /// Takes and delivers all messages; returns their numbers.
    @discardableResult
    func deliverAll() -> [Int32] {
        defer { undelivered.value = 0 }
        return takeAll(delivering: 0)
    }
}
