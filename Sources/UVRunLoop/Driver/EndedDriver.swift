/// Stands in for the driver of a loop that has ended: the clock goes on, and there is nothing to
/// wait for.
final class EndedDriver: LoopDriver, LoopRemote {
    private let clock: any LoopRemote

    init(clock: any LoopRemote) { self.clock = clock }

    var remote: any LoopRemote { self }
    var now: Int64 { clock.now }

    func look() {}
    func wait(until moment: Moment?, now: Int64) {
        preconditionFailure("Bug in UVRunLoop: a loop that has ended went to sleep.")
    }
    func forEachReady(_ body: (Readiness) -> Void) {}
    func watch(
        _ orders: [WatchOrder],
        ifCurrent isCurrent: (WatchOrder) -> Bool,
        refused: (WatchOrder) -> Void
    ) {}
    func rearm(_ order: WatchOrder) -> Bool { true }
    func kick() {}
    func release(_ descriptor: CInt, unless isWanted: () -> Bool) {}
    func close() {}
}
