@testable import UVRunLoop

/// The shipped inbox, filled again as it was left, and what is known to be in it.
struct InboxContent: ~Copyable {
    private var inbox = Inbox()
    /// The numbers of the blocks that wait, oldest first.
    private var numbers: [UInt8] = []
    private var isClosed = false
    private let called = Called()

    private final class Called: @unchecked Sendable {
        var numbers: [UInt8] = []
    }

    init() {}

    init(_ bytes: [UInt8]) {
        guard bytes.count > 1, bytes[0] == 0 else { return }
        for number in bytes.dropFirst(2) { _ = post(number) }
        if bytes[1] != 0 { _ = close() }
    }

    var bytes: [UInt8] { [0, isClosed ? 1 : 0] + numbers }

    var count: Int {
        precondition(inbox.count == numbers.count, "The inbox miscounts its blocks.")
        return inbox.count
    }

    /// A block's number says for which mode it is.
    static func mode(of number: UInt8) -> UVRunLoop.Mode {
        number < 128 ? World.first : World.second
    }

    mutating func post(_ number: UInt8) -> Bool {
        let called = called
        let block: Block = { called.numbers.append(number) }
        guard inbox.post(block, to: Self.mode(of: number)) else { return false }
        numbers.append(number)
        return true
    }

    func holdsBlock(for mode: UVRunLoop.Mode) -> Bool {
        inbox.holdsBlock(for: mode.number, isCommon: false)
    }

    mutating func take(for mode: UVRunLoop.Mode) -> [UInt8] {
        var batch: [Inbox.Entry] = []
        inbox.take(for: mode.number, isCommon: false, into: &batch)
        for index in batch.indices { batch[index].takeBlock()?() }
        return forgetCalled()
    }

    mutating func close() -> [UInt8] {
        isClosed = true
        for block in inbox.close() { block() }
        return forgetCalled()
    }

    private mutating func forgetCalled() -> [UInt8] {
        let taken = called.numbers
        called.numbers = []
        numbers.removeAll { taken.contains($0) }
        return taken
    }
}
