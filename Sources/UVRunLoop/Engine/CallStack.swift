/// The timers of a loop whose handlers are running, innermost last.
///
/// Not retained: a call of a handler keeps its timer for as long as it lasts.
struct CallStack<Timer: TimerReference>: ~Copyable {
    private var calls = OwnedArray<Unretained<Timer>>()

    var timers: [Timer] { calls.indices.map { calls[$0].object } }

    @inline(__always)
    mutating func push(_ timer: Timer) { calls.append(Unretained(timer)) }

    /// Removes the latest call of a timer.
    ///
    /// Usually it is the innermost one, but a call by `fire()` may end in another loop.
    @inline(__always)
    mutating func remove(_ timer: Timer) {
        if !calls.isEmpty, calls[calls.count - 1].refers(to: timer) {
            _ = calls.removeLast()
        } else {
            removeFromWithin(timer)
        }
    }

    @inline(never)
    private mutating func removeFromWithin(_ timer: Timer) {
        guard let index = calls.indices.last(where: { calls[$0].refers(to: timer) })
        else { return }
        for next in index + 1..<calls.count { calls[next - 1] = calls[next] }
        _ = calls.removeLast()
    }

    mutating func removeAll() { calls = OwnedArray() }
}
