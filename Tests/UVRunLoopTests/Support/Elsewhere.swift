// Every suite that uses what is in this folder uses that, too.
@_exported import TestSupport

@testable import UVRunLoop

/// Has another thread do something when the loop's clock has advanced.
///
/// - Returns: What comes when it is done: a loop that it wakes may be ahead of what it does after
///   that.
@discardableResult
func elsewhere(
    after delay: Duration,
    _ loop: UVRunLoop,
    _ action: @escaping @Sendable () -> Void
) -> Signal {
    let isDone = Signal()
    if let clock = virtualClock(of: loop) {
        clock.after(delay) {
            action()
            isDone.send()
        }
    } else {
        let thread = startThread {
            letTimePass(delay)
            // As in virtual time, it happens while the loop sleeps, however slow the machine is;
            // but a loop that never sleeps is not waited for.
            awaitSleep(of: loop, seconds: 2)
            action()
            isDone.send()
        }
        thread.detach()
    }
    return isDone
}

/// Lets the loop's clock move on without a run.
func letTimePass(_ duration: Duration, _ loop: UVRunLoop) {
    if let clock = virtualClock(of: loop) {
        clock.advance(by: duration)
    } else {
        letTimePass(duration)
    }
}
