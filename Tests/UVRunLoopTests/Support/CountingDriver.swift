@testable import UVRunLoop

/// The driver on libuv, and how often its loop asked something of it.
final class CountingDriver: LoopDriver {
    struct Counts {
        var polls = 0
        var waits = 0
        var changes = 0
        var rearms = 0
        var pauses = 0
        var reports = 0
    }

    private let driver: any LoopDriver
    var counts = Counts()
    /// Called once, when the next wait begins: the kernel watches all that the loop had it watch.
    var whenWaiting: (() -> Void)?

    // Before the kernel watches nothing of a loop that has ended, `whenReleasingAll` is called.
    init(
        wakeState: WakeState,
        clockStands: Bool = false,
        whenReleasingAll: @escaping @Sendable () -> Void = {}
    ) throws(UVError) {
        driver = try UVRunLoop.makeUVDriver(wakeState)
        remote = ObservedRemote(
            driver.remote,
            standingAt: clockStands ? driver.remote.now : nil,
            whenReleasingAll
        )
    }

    let remote: any LoopRemote

    func poll() {
        counts.polls += 1
        driver.poll()
    }

    func wait(until moment: Moment?, now: Int64) {
        counts.waits += 1
        whenWaiting.take()?()
        driver.wait(until: moment, now: now)
    }

    var readyCount: Int { driver.readyCount }

    func takeReport() -> ReadyReport? {
        let report = driver.takeReport()
        if report != nil { counts.reports += 1 }
        return report
    }

    func watch(
        _ changes: [WatchChange],
        ifCurrent isCurrent: (WatchChange) -> Bool,
        refused: (WatchChange, UVError) -> Void
    ) {
        counts.changes += changes.count
        driver.watch(changes, ifCurrent: isCurrent, refused: refused)
    }

    func rearm(_ change: WatchChange) -> Bool {
        if change.events == nil { counts.pauses += 1 } else { counts.rearms += 1 }
        return driver.rearm(change)
    }

    func close() { driver.close() }
}

/// Runs a test's body with a loop on libuv whose use of the driver is counted.
///
/// - Parameters:
///   - clockStands: Whether the loop's clock stands still, for counts that depend on how much time
///     passes: the result of a poll is reused for a millisecond.
///   - body: The body.
/// - Returns: What the body returns.
/// - Throws: What the body throws, or an error of libuv.
func withCountedLoop<Result>(
    clockStands: Bool = false,
    _ body: (UVRunLoop, CountingDriver) throws -> Result
) throws -> Result {
    let made = Box<CountingDriver?>(nil)
    return try UVRunLoop.withLoop { word in
        let driver = try CountingDriver(wakeState: word, clockStands: clockStands)
        made.value = driver
        return driver
    } _: { loop in
        guard let driver = made.value else { preconditionFailure("There is a driver.") }
        return try body(loop, driver)
    }
}

/// The part of a driver for other threads; tells when all is released.
private final class ObservedRemote: LoopRemote {
    private let remote: any LoopRemote
    private let standingTime: Int64?
    private let whenReleasingAll: @Sendable () -> Void

    init(
        _ remote: any LoopRemote,
        standingAt standingTime: Int64?,
        _ whenReleasingAll: @escaping @Sendable () -> Void
    ) {
        self.remote = remote
        self.standingTime = standingTime
        self.whenReleasingAll = whenReleasingAll
    }

    var now: Int64 { standingTime ?? remote.now }
    var isOnSystemClock: Bool { standingTime == nil && remote.isOnSystemClock }

    func wake() { remote.wake() }

    func release(_ descriptor: CInt, unless isWanted: () -> Bool) {
        remote.release(descriptor, unless: isWanted)
    }

    func makeNonblocking(_ descriptor: CInt, if isWanted: () -> Bool) {
        remote.makeNonblocking(descriptor, if: isWanted)
    }

    func releaseAll() {
        whenReleasingAll()
        remote.releaseAll()
    }
}
