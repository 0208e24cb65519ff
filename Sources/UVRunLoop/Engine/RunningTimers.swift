/// The timers of a loop whose handlers are running, innermost last.
///
/// Not retained: a call of a handler keeps its timer for as long as it lasts.
struct RunningTimers<Timer: TimerReference>: ~Copyable {
    private var calls = OwnedArray<Unretained<Timer>>()

    var timers: [Timer] { calls.indices.map { calls[$0].object } }

    @inline(__always)
    mutating func push(_ timer: Timer) { calls.append(Unretained(timer)) }

    /// Removes the innermost call, which is the timer's: calls end in the loop that began them, on
    /// its thread.
    @inline(__always)
    mutating func pop(_ timer: Timer) {
        require(!calls.isEmpty, "Bug in UVRunLoop: a timer's call ends that has not begun.")
        let last = calls.removeLast()
        assert(last.refers(to: timer), "Bug in UVRunLoop: the calls of timers overlap.")
    }

    mutating func removeAll() { calls = OwnedArray() }
}
