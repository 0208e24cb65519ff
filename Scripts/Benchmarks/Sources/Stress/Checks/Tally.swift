import Synchronization

/// The counted operations, under their kinds of load.
enum Operation: Int, CaseIterable, Sendable {
    case timersFired, timersRepeated, timersMissed, timersCancelled, timersRedated
    case blocksRun
    case signalsGiven, sourcesPerformed
    case bytesRead, descriptorEvents, hangUps
    case messagesDelivered, messagesRefused
    case waitsAnswered, requestsPerformed
    case runsNested, runsFinished, runsStopped, runsTimedOut, runsHandledSource
    case itemsAdded, itemsRemoved, movedItemsCalled
    case interruptsTold
    case threadsEnded, threadsRefused
    case capturesReleased
    case childrenEnded
    case passes, waits

    /// The name of the operation in the summary, after a number.
    var title: String {
        switch self {
        case .timersFired: "fired"
        case .timersRepeated: "fired again"
        case .timersMissed: "dates folded into others"
        case .timersCancelled: "cancelled"
        case .timersRedated: "re-dated"
        case .blocksRun: "run"
        case .signalsGiven: "given"
        case .sourcesPerformed: "performs"
        case .bytesRead: "bytes read"
        case .descriptorEvents: "events"
        case .hangUps: "hang-ups"
        case .messagesDelivered: "delivered"
        case .messagesRefused: "refused for want of room"
        case .waitsAnswered: "waited for"
        case .requestsPerformed: "not waited for"
        case .runsNested: "nested"
        case .runsFinished: "finished"
        case .runsStopped: "stopped"
        case .runsTimedOut: "timed out"
        case .runsHandledSource: "handled a source"
        case .itemsAdded: "added"
        case .itemsRemoved: "removed"
        case .movedItemsCalled: "calls meanwhile"
        case .interruptsTold: "told"
        case .threadsEnded: "started and ended"
        case .threadsRefused: "refused by the system"
        case .capturesReleased: "released at home"
        case .childrenEnded: "ended well"
        case .passes: "passes observed"
        case .waits: "waits observed"
        }
    }

    /// The kind of load under which the summary shows it.
    var kind: Kind? {
        switch self {
        case .timersFired, .timersRepeated, .timersMissed, .timersCancelled, .timersRedated: .timers
        case .blocksRun: .blocks
        case .signalsGiven, .sourcesPerformed: .signals
        case .bytesRead, .descriptorEvents, .hangUps: .descriptors
        case .messagesDelivered, .messagesRefused: .ports
        case .waitsAnswered, .requestsPerformed: .performs
        case .runsNested, .runsFinished, .runsStopped, .runsTimedOut, .runsHandledSource: .nested
        case .itemsAdded, .itemsRemoved, .movedItemsCalled: .changes
        case .interruptsTold: .interrupts
        case .threadsEnded, .threadsRefused: .threads
        case .capturesReleased: .captures
        case .childrenEnded: .forks
        case .passes, .waits: nil
        }
    }

    /// Whether it is something done, and not a size or a remark on something that is counted too.
    var isDeed: Bool {
        switch self {
        case .timersMissed, .bytesRead, .runsFinished, .runsStopped, .runsTimedOut,
            .runsHandledSource, .passes, .waits:
            false
        default: true
        }
    }
}

/// The numbers of operations of one thread, for other threads to read.
final class Tally: Sendable {
    private let numbers = Operation.allCases.map { _ in Number() }

    subscript(operation: Operation) -> Int { numbers[operation.rawValue].value }

    func count(_ operation: Operation, _ count: Int = 1) {
        numbers[operation.rawValue].add(count)
    }

    var deeds: Int { Operation.allCases.lazy.filter(\.isDeed).map { self[$0] }.reduce(0, +) }
}
