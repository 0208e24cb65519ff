@testable import UVRunLoop

extension PortInbox {
    /// A full inbox, with messages of one number.
    static func full(_ capacity: Int, id: Int32 = 0) -> PortInbox {
        let inbox = PortInbox(capacity: capacity)
        for _ in 0..<capacity { _ = inbox.post(UVRunLoop.PortMessage(id: id)) }
        return inbox
    }

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
