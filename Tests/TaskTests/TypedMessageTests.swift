import TestSupport
import Testing

@testable import UVRunLoop

/// Messages of a typed port as a sequence.
@Suite(.timeLimit(.minutes(15))) struct TypedMessageTests {
    @Test(arguments: DriverKind.allCases)
    func messagesComeAsValuesAndInOrder(kind: DriverKind) throws {
        try runTask(kind) { loop in
            let port = UVRunLoop.TypedPort<String>(capacity: 4)
            loop.add(port)
            for word in ["a", "b"] { #expect(port.send(word, limit: .zero)) }
            loop.add(
                UVRunLoop.Timer(
                    after: .milliseconds(1),
                    sendableHandler: { _ in #expect(port.send("c", limit: .zero)) }
                )
            )
            var words: [String] = []
            for await word in port.messages {
                words.append(word)
                if words.count == 3 { break }
            }
            #expect(words == ["a", "b", "c"])
            #expect(port.isValid && port.count == 0)
        }
    }

    /// It is not taken for the end.
    @Test func anOptionalIsAMessageToo() throws {
        try runTask { loop in
            let port = UVRunLoop.TypedPort<Int?>()
            loop.add(port)
            for number in [nil, 7, nil] { #expect(port.send(number)) }
            var messages = port.messages.makeAsyncIterator()
            for number in [nil, 7, nil] { #expect(await messages.next() == .some(number)) }
        }
    }

    @Test func aTaskTakesOverFromTheHandler() throws {
        let log = EventLog()
        try runTask { loop in
            let port = UVRunLoop.TypedPort<Int>(sendableHandler: { log.note("\($1)") })
            loop.add(port)
            #expect(port.send(1))
            try await loop.sleep(for: .seconds(1))
            let messages = port.messages
            #expect(port.send(2))
            #expect(await first(of: messages) == 2)
        }
        #expect(log.entries == ["1"])
    }

    @Test func theEndOfTheSequenceIsThatOfThePort() throws {
        try runTask { loop in
            let port = UVRunLoop.TypedPort<Int>()
            loop.add(port)
            let messages = port.messages
            let wait = try await waitForTheEnd(of: messages, on: loop)
            messages.invalidate()
            #expect(await wait.value)
            #expect(!port.isValid && !port.send(1))
            #expect(await first(of: messages) == nil)
        }
    }

    @Test func theEndOfThePortIsThatOfTheSequence() throws {
        try runTask { loop in
            let port = UVRunLoop.TypedPort<Int>()
            loop.add(port)
            loop.add(
                UVRunLoop.Timer(after: .seconds(1), sendableHandler: { _ in port.invalidate() })
            )
            for await number in port.messages { Issue.record("\(number)") }
            #expect(!port.isValid)
        }
    }

    @Test func aCancelledTaskLeavesThePortAndItsMessages() throws {
        try runTask { loop in
            let port = UVRunLoop.TypedPort<Int>()
            loop.add(port)
            let messages = port.messages
            let wait = try await waitForTheEnd(of: messages, on: loop)
            wait.cancel()
            #expect(await wait.value)
            #expect(port.send(1))
            let late = Task(executorPreference: loop.taskExecutor) {
                withUnsafeCurrentTask { unsafe $0?.cancel() }
                return await first(of: messages) == nil
            }
            #expect(await late.value)
            #expect(await first(of: messages) == 1)
        }
    }
}

/// A task that waits for a message, and tells whether there was none.
private func waitForTheEnd(
    of messages: UVRunLoop.TypedPort<Int>.Messages,
    on loop: UVRunLoop
) async throws -> Task<Bool, Never> {
    let wait = Task(executorPreference: loop.taskExecutor) { await first(of: messages) == nil }
    try await loop.sleep(for: .seconds(1))
    return wait
}
