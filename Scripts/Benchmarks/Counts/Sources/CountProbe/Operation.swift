import UVRunLoop

/// Something that is done with a loop, whose cost is counted.
struct Operation: Sendable {
    /// Carries out a number of operations.
    typealias Rounds = (_ count: Int, _ round: Round) -> Void

    let name: String
    /// The description of one operation.
    let title: String
    /// How many make a round, if nobody says otherwise.
    let count: Int
    /// Rounds are multiples of it.
    let batch: Int
    /// Whether it waits for dates, and time passes while it sleeps; otherwise it stands still, so
    /// that nothing depends on how fast the machine is.
    let needsTime: Bool
    /// Puts into the loop of the calling thread, which is given, what the operation works with.
    let prepare: @Sendable (UVRunLoop) -> Rounds

    init(
        _ name: String,
        _ title: String,
        count: Int,
        batch: Int = 1,
        needsTime: Bool = false,
        prepare: @escaping @Sendable (UVRunLoop) -> Rounds
    ) {
        self.name = name
        self.title = title
        self.count = count
        self.batch = batch
        self.needsTime = needsTime
        self.prepare = prepare
    }

    static let all = passes + blocks + jobs + signals + timers + fires + ports + threads + lateness
}

extension UVRunLoop {
    /// One pass that does not wait.
    func makePass(in mode: Mode = .default) {
        let result = run(mode: mode, for: .zero)
        precondition(result == .timedOut, "A pass ended as \(result).")
    }

    /// Keeps a mode from being empty by a source that is never signalled.
    func keep(_ mode: Mode = .default) {
        add(Source(perform: { _ in }), forMode: mode)
    }
}

/// Counts what was done in a run, and ends the run when it was enough.
final class Countdown {
    let loop: UVRunLoop
    private(set) var rest = 0

    init(_ loop: UVRunLoop) { self.loop = loop }

    /// Runs the loop until so many were counted.
    func run(_ count: Int) {
        rest = count
        loop.run()
        precondition(rest == 0, "A run ended with \(rest) still to come.")
    }

    func countOne() {
        rest -= 1
        if rest == 0 { loop.stop() }
    }
}
