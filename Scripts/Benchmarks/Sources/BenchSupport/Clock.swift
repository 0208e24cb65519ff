import Glibc

/// Nanoseconds of the monotonic clock, by which everything is timed.
package func now() -> Int64 { reading(CLOCK_MONOTONIC) }

/// Nanoseconds for which the threads of this process have run.
package func processorTime() -> Int64 { reading(CLOCK_PROCESS_CPUTIME_ID) }

private func reading(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
