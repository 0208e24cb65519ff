import Glibc

/// Nanoseconds of the monotonic clock, by which every system is timed.
func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

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

/// Ends the program with a sentence, because a benchmark that goes on after an error measures
/// nonsense.
func fail(_ sentence: String) -> Never {
    let line = "bench: \(sentence)\n"
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(1)
}
