import BenchSupport
import Glibc

/// How many nanoseconds a body takes.
func time(_ body: () -> Void) -> Double {
    let start = now()
    body()
    return Double(now() - start)
}

/// Keeps the thread asleep until a moment of the monotonic clock.
func sleep(until date: Int64) {
    var time = timespec(
        tv_sec: Int(date / 1_000_000_000),
        tv_nsec: Int(date % 1_000_000_000)
    )
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) != 0 {}
}
