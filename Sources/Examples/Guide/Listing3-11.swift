// Listing 3-11: a timer that fires in all the common modes. `UVRunLoop.Timer.init` stands for
// `CFRunLoopTimerCreate`, and `.common` for `kCFRunLoopCommonModes`. Apple's first date of 0.1 is
// strictly one in the year 2001, which fires at once; what is meant is a delay.

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

    // The default mode is the only common one at first. One that joins gets what is common.
    let result = loop.run(mode: .eventTracking, for: nil)
    log.note("\(UVRunLoop.Mode.eventTracking.rawValue) is no common mode: \(result)")
    loop.addCommonMode(.eventTracking)
    loop.run(mode: .eventTracking, for: nil)
}
