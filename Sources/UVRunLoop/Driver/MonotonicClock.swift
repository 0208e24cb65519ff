/// The time for a thread that has no loop yet: the clock that every loop on libuv goes by.
final class MonotonicClock: LoopRemote {
    static let shared = MonotonicClock()

    var now: Int64 { monotonicNow() }
    func kick() {}
    func release(_ descriptor: CInt, unless isWanted: () -> Bool) {}
}
