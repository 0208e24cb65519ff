// Listing 3-11: a timer that fires in all the common modes. `UVRunLoop.Timer.init` stands for
// `CFRunLoopTimerCreate`, and `.common` for `kCFRunLoopCommonModes`. Apple's first date of 0.1 is
// literally in the year 2001, so it fires at once; a delay is meant.

import UVRunLoop

/// Runs the loop in one common mode and in another, each until the timer fires.
func scheduleACommonTimer(
    _ log: Log,
    delay: Duration = .milliseconds(100),
    interval: Duration = .milliseconds(300)
) {
    let loop = UVRunLoop.current
    let timer = UVRunLoop.Timer(after: delay, interval: interval) { _ in
        log.note("the timer fires in \(loop.currentMode?.rawValue ?? "no mode")")
        loop.stop()
    }
    loop.add(timer, forMode: .common)
    loop.run(mode: .default, for: nil)

    // At first only the default mode is common. A mode that joins gets the common items.
    let result = loop.run(mode: .eventTracking, for: nil)
    log.note("\(UVRunLoop.Mode.eventTracking.rawValue) is no common mode: \(result)")
    loop.addCommonMode(.eventTracking)
    loop.run(mode: .eventTracking, for: nil)
}
