@testable import UVRunLoop

extension Engine {
    func makeTimer(
        at date: Int64,
        every interval: Int64? = nil,
        tolerance: Int64 = 0
    ) -> UVRunLoop.Timer {
        UVRunLoop.Timer(
            date: date,
            interval.map { .nanoseconds($0) },
            .nanoseconds(tolerance),
            sendableHandler: { _ in }
        )
    }

    mutating func addTimer(
        at date: Int64,
        every interval: Int64? = nil,
        tolerance: Int64 = 0
    ) -> UVRunLoop.Timer {
        let timer = makeTimer(at: date, every: interval, tolerance: tolerance)
        add(timer, to: .default)
        return timer
    }

    func soonestDate(in mode: UVRunLoop.Mode) -> Int64? {
        soonestDate(in: mode, isInLoop: { _ in true })
    }

    /// Fires everything that is due, by handlers that take no time.
    mutating func fire(now: Int64, in mode: Int = 0) -> [Fired] {
        modes[mode].timers.beginBatch(now: now)
        var fired: [Fired] = []
        while let firing = takeNext(in: mode, at: now) {
            fired.append(firing)
            _ = endCall(firing.timer, now: now)
        }
        _ = endBatch(in: mode)
        return fired
    }

    mutating func takeNext(in mode: Int = 0, at now: Int64) -> Fired? {
        let firing = takeNext(in: mode, { now }, isInLoop: { _ in true })
        switch consume firing {
        case .none: return nil
        case .some(let firing): return Fired(timer: firing.timer, missed: firing.timer.missedFires)
        }
    }
}

/// A timer that the engine has handed out, which tests can keep in arrays.
struct Fired {
    let timer: UVRunLoop.Timer
    let missed: Int
}
