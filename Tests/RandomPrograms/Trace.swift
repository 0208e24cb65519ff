/// One thing that a program can notice.
package enum Event: Hashable, Sendable {
    case notified(Int, activity: UInt, Place)
    case performed(Int, Place)
    case fired(Int, missed: Int, Place)
    case served(Int, events: UInt8, Place)
    case received(Int, message: Int32, Place)
    case called(Int, Place)
    case scheduled(Int, ModeName)
    case cancelled(Int, ModeName)
    case returned(Int, Place)
    case sent(Int, Bool)
    case found(Action, String)
    /// The loop asked its driver again and again without end, and was stopped for it.
    case spun
    /// The loop outlived the patience of the test, and was stopped for it.
    case hung

    /// Where and when; `nil` for what is not a callout.
    package var place: Place? {
        switch self {
        case .notified(_, _, let place), .performed(_, let place), .fired(_, _, let place),
            .served(_, _, let place), .received(_, _, let place), .called(_, let place),
            .returned(_, let place):
            place
        default: nil
        }
    }
}

/// Where a callout happens.
package struct Place: Hashable, Sendable {
    /// The innermost run's mode, as `currentMode` says.
    package var mode: ModeName?
    /// As `nestingLevel` says.
    package var depth: Int
    /// In virtual time; 0 in real time.
    package var time: Int64

    package init(mode: ModeName?, depth: Int, time: Int64) {
        self.mode = mode
        self.depth = depth
        self.time = time
    }
}

/// The events so far, and the position in each item's script.
///
/// The model and the library share how a script is read, and nothing else.
package struct Performance {
    package let program: Program
    package private(set) var trace: [Event] = []
    private var calls: [Int]
    private var callouts = 0

    package init(_ program: Program) {
        self.program = program
        calls = Array(repeating: 0, count: program.items.count)
    }

    package mutating func note(_ event: Event) { trace.append(event) }

    /// Whether nothing more is to be done than to come to an end.
    package var isOver: Bool { callouts >= Program.longest }

    /// Notes a callout; returns what the item does in it.
    package mutating func begin(_ item: Int, _ event: Event) -> [Action] {
        note(event)
        callouts += 1
        if isOver { return [.stop] }
        defer { calls[item] += 1 }
        let script = program.items[item].calls
        return calls[item] < script.count ? script[calls[item]] : []
    }
}

extension Place: CustomStringConvertible {
    package var description: String {
        "in \(mode.map { "\($0)" } ?? "no mode") at depth \(depth), \(time) ns"
    }
}

extension ModeName: CustomStringConvertible {
    package var description: String {
        switch self {
        case .main: "main"
        case .first: "first"
        case .second: "second"
        case .common: "common"
        }
    }
}
