import BenchSupport
import UVRunLoop

/// Messages through ports: in the order of their senders, each one that was not refused.
final class PortTraffic: Traffic {
    /// The content of a message.
    struct Note: Sendable {
        let sender: Int
        let number: Int
        let date: Int64
    }

    struct Inlet: Sendable {
        let port: UVRunLoop.Port
        let workload: Workload
    }

    private let worker: Worker
    private let port: UVRunLoop.Port
    private var inlets: [Inlet] = []
    private var sent: [Int] = []

    init(_ worker: Worker) {
        self.worker = worker
        let count = worker.settings.threads
        var generator = Generator(worker.scenario?.plan.seed ?? 0, UInt64(worker.index), 4)
        let capacity = generator.pick([1, 4, 64, 1_024])
        var received = Array(repeating: 0, count: count)
        var isOnStack = false
        port = UVRunLoop.Port(capacity: capacity) { port, message in
            worker.book.notePort()
            demand(!isOnStack, "a port not to be served within its own call", "that")
            isOnStack = true
            defer { isOnStack = false }
            Self.receive(message, of: worker, &received)
        }
        worker.loop.add(port, forMode: generator.pick([.default, .common]))
        worker.workload.putUp(Inlet(port: port, workload: worker.workload), for: .ports)
    }

    func connect() {
        inlets = worker.partners.compactMap { $0.inlet(for: .ports) }
        sent = inlets.map { _ in 0 }
    }

    // MARK: Sending

    func act(_ generator: inout Generator) {
        let index = generator.below(inlets.count)
        for _ in 0...generator.below(6) {
            send(to: index, limit(to: inlets[index].workload, &generator))
        }
    }

    /// How long to wait for room: for as long as it takes only where nobody waits for this thread.
    private func limit(to workload: Workload, _ generator: inout Generator) -> Duration? {
        switch generator.below(4) {
        case 0: .zero
        case 1 where workload.index > worker.index: nil
        default: .nanoseconds(generator.below(300_000))
        }
    }

    private func send(to index: Int, _ limit: Duration?) {
        let (inlet, number) = (inlets[index], sent[index] + 1)
        let note = Note(sender: worker.index, number: number, date: now())
        let message = UVRunLoop.PortMessage(
            id: Int32(truncatingIfNeeded: number),
            components: [.bytes([UInt8(truncatingIfNeeded: number)]), .value(note)]
        )
        inlet.workload.ledger(.ports).send()
        let fault = worker.settings.fault
        if Fault.swapsMessages.strikes(fault) {
            sent[index] = number
            send(to: index, nil)
        }
        if Fault.losesMessage.strikes(fault) || inlet.port.send(message, limit: limit) {
            sent[index] = number
        } else {
            // A refused message was not sent: the next message has its number.
            inlet.workload.ledger(.ports).takeBack()
            worker.tally.count(.messagesRefused)
            demand(limit != nil, "a valid port to take a message that may wait", "it refused")
        }
    }

    // MARK: Receiving

    private static func receive(
        _ message: UVRunLoop.PortMessage,
        of worker: Worker,
        _ received: inout [Int]
    ) {
        guard let note = message.value(as: Note.self) else {
            Verdict.fail(expected: "the message that was sent", seen: "\(message.components)")
        }
        let expected = received[note.sender] + 1
        demand(
            note.number == expected,
            "message \(expected) from worker \(note.sender) to worker \(worker.index)",
            "message \(note.number)"
        )
        demand(
            message.bytes == [UInt8(truncatingIfNeeded: note.number)],
            "the bytes of the message",
            "\(message.bytes ?? [])"
        )
        received[note.sender] = expected
        worker.lateness.messages.record(UInt64(max(0, now() - note.date)))
        worker.tally.count(.messagesDelivered)
        worker.wasRoused()
        worker.mayAct(UInt64(note.sender) << 48 ^ UInt64(note.number))
        worker.didFinish(.ports)
    }

    func close() {
        demand(port.count == 0, "an empty port after all messages came", "\(port.count) in it")
        port.invalidate()
        demand(
            !port.isValid && !port.send(.init(), limit: .zero),
            "an invalid port to refuse",
            "it not"
        )
        inlets = []
    }
}
