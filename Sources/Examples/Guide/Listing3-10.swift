// Listing 3-10: two repeating timers, one made with a date and one with a delay. `UVRunLoop.Timer`
// stands for `NSTimer`, and `add(_:forMode:)` for `addTimer:forMode:`. Apple's second timer needs
// no `add`: the product UVRunLoopFoundation has such a `scheduledTimer`.

import UVRunLoop

/// Logs the dates on which the timers fire, in tenths of a second since each was made; a test may
/// use a shorter unit.
func scheduleTwoTimers(_ log: Log, tenth: Duration = .milliseconds(100)) {
    let loop = UVRunLoop.current
    let start = loop.now

    /// Within a handler, `nextFireDate` is still the date that the timer fires for.
    func note(_ name: String, _ timer: UVRunLoop.Timer, since start: UVRunLoop.Instant) {
        let isEarly = loop.now < timer.nextFireDate
        let date = Int((start.duration(to: timer.nextFireDate) / tenth).rounded())
        log.note("\(name) \(date)" + (isEarly ? " (early)" : ""))
    }

    // The first date is a second from now; after that it is every tenth of a second.
    let first = UVRunLoop.Timer(at: start + tenth * 10, interval: tenth) { timer in
        note("first", timer, since: start)
    }
    loop.add(first, forMode: .default)

    // With a delay: a fifth of a second from now, and every fifth of a second after that.
    var secondStart = start
    let second = UVRunLoop.Timer(after: tenth * 2, interval: tenth * 2) { timer in
        note("second", timer, since: secondStart)
    }
    secondStart = second.nextFireDate - tenth * 2
    loop.add(second, forMode: .default)

    loop.run(mode: .default, until: start + tenth * 14 + tenth / 2)
}
