import MallocCount
import UVRunLoop

extension Operation {
    static let timers = [
        Operation(
            "timers.insert",
            "making and adding one of 10,000 timers",
            count: 10_000,
            batch: 10_000
        ) { loop in
            let crowd = Crowd(loop)
            return { count, round in
                for _ in 0..<count / Crowd.size {
                    crowd.prepare()
                    round.loop { crowd.insert() }
                    crowd.expect(isScheduled: true)
                    crowd.cancel()
                }
            }
        },
        Operation("timers.fire", "a due timer, of 10,000", count: 10_000, batch: 10_000) { loop in
            let crowd = Crowd(loop)
            return { count, round in
                for _ in 0..<count / Crowd.size {
                    crowd.prepare()
                    crowd.insert()
                    crowd.letGo()
                    count_advance_clocks(Int(Crowd.span.components.seconds) * 1_000_000_000)
                    round.loop { crowd.fire() }
                }
            }
        },
        cancelling("timers.cancel", "invalidating one of 10,000 timers"),
        cancelling(
            "timers.cancel.modes",
            "invalidating one of 10,000 timers that are in two modes each",
            alsoIn: UVRunLoop.Mode("other")
        ),
        Operation(
            "timers.redate",
            "a new date for one of 10,000 timers",
            count: 10_000,
            batch: 10_000
        ) { loop in
            let crowd = Crowd(loop)
            return { count, round in
                for _ in 0..<count / Crowd.size {
                    crowd.prepare()
                    crowd.insert()
                    round.loop { crowd.redate() }
                    crowd.cancel()
                }
            }
        },
        Operation(
            "timers.timeout",
            "making, adding and invalidating a timer, one after the other",
            count: 2_000
        ) { loop in
            loop.keep()
            var fired = 0
            return { count, round in
                round.loop {
                    for _ in 0..<count {
                        let timer = UVRunLoop.Timer(
                            after: .seconds(60),
                            handler: { _ in fired += 1 }
                        )
                        loop.add(timer, forMode: .default)
                        timer.invalidate()
                    }
                }
                precondition(fired == 0, "A cancelled timer fired.")
            }
        },
        Operation("timers.memory", "a scheduled timer", count: 10_000, batch: 10_000) { loop in
            let crowd = Crowd(loop)
            let before = count_bytes_held()
            return { count, round in
                for _ in 0..<count / Crowd.size {
                    crowd.prepare()
                    crowd.insert()
                }
                round.note("bytes", count_bytes_held() - before)
                crowd.cancel()
            }
        },
    ]

    /// Invalidating timers of the default mode, which may be in another one, too.
    private static func cancelling(
        _ name: String,
        _ title: String,
        alsoIn mode: UVRunLoop.Mode? = nil
    ) -> Operation {
        Operation(name, title, count: 10_000, batch: 10_000) { loop in
            let crowd = Crowd(loop)
            return { count, round in
                for _ in 0..<count / Crowd.size {
                    crowd.prepare()
                    crowd.insert()
                    if let mode { crowd.add(to: mode) }
                    round.loop { crowd.cancel() }
                    crowd.expect(isScheduled: false)
                }
            }
        }
    }
}

/// 10,000 timers at dates in no order.
private final class Crowd {
    static let size = 10_000
    /// In what time the dates are.
    static let span: Duration = .seconds(60)

    private let loop: UVRunLoop
    private let dates: [Duration]
    private let otherDates: [Duration]
    private let order: [Int]
    private var timers: [UVRunLoop.Timer] = []
    /// The dates of the next timers.
    private var instants: [UVRunLoop.Instant]
    private var fired = 0

    init(_ loop: UVRunLoop) {
        self.loop = loop
        var numbers = FixedNumbers()
        dates = (0..<Self.size).map { _ in
            .nanoseconds(Int64.random(in: 0..<60_000_000_000, using: &numbers))
        }
        otherDates = dates.shuffled(using: &numbers)
        order = (0..<Self.size).shuffled(using: &numbers)
        timers.reserveCapacity(2 * Self.size)
        instants = dates.map { _ in loop.now }
        loop.keep()
    }

    func prepare() {
        let now = loop.now
        for index in dates.indices { instants[index] = now + dates[index] }
    }

    /// Makes the timers; the counts are to hold as little as possible of what is not the library's.
    func insert() {
        let loop = loop
        var timers = timers
        self.timers = []
        for date in instants {
            let timer = UVRunLoop.Timer(at: date, handler: { _ in self.fired += 1 })
            loop.add(timer, forMode: .default)
            timers.append(timer)
        }
        self.timers = timers
    }

    /// Adds the timers to one more mode.
    func add(to mode: UVRunLoop.Mode) {
        for timer in timers { loop.add(timer, forMode: mode) }
    }

    func redate() {
        let now = loop.now
        for index in order { timers[index].nextFireDate = now + otherDates[index] }
    }

    /// Invalidates all, in another order than they were added.
    func cancel() {
        for first in stride(from: 0, to: timers.count, by: Self.size) {
            for index in order { timers[first + index].invalidate() }
        }
        letGo()
    }

    /// Leaves the timers to the loop.
    func letGo() { timers.removeAll(keepingCapacity: true) }

    func expect(isScheduled: Bool) {
        let date = loop.nextFireDate(forMode: .default)
        precondition((date != nil) == isScheduled, "The timers were not added, or not removed.")
    }

    /// Fires all, which are due.
    func fire() {
        fired = 0
        loop.makePass()
        precondition(fired == Self.size, "\(fired) timers fired instead of \(Self.size).")
    }
}

/// Pseudo-random numbers that are the same each time.
private struct FixedNumbers: RandomNumberGenerator {
    private var state: UInt64 = 1

    mutating func next() -> UInt64 {
        // SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
