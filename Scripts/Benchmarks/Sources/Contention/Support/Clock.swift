import Glibc

/// Nanoseconds of the monotonic clock.
func now() -> Int64 { reading(CLOCK_MONOTONIC) }

/// Nanoseconds for which the threads of this process have run.
func processorTime() -> Int64 { reading(CLOCK_PROCESS_CPUTIME_ID) }

private func reading(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Ends the program with a sentence, because a benchmark that goes on after an error measures
/// nonsense.
func fail(_ sentence: String) -> Never {
    let line = "bench-contention: \(sentence)\n"
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(1)
}

/// Keeps a call whose result is not used from being optimised away.
@inline(never)
func use<Value: ~Copyable>(_ value: borrowing Value) {}
