import Synchronization
import UVRunLoop

/// Passes everything on to a driver, and counts: a loop that asks without end is stopped, and
/// another thread can tell one sleep from the next.
final class WatchedDriver: LoopDriver {
    /// The counts that other threads may read.
    final class Counts: Sendable {
        let begunWaits = Atomic<Int>(0)
        let endedWaits = Atomic<Int>(0)
        let questions = Atomic<Int>(0)
    }

    /// So often no program asks before it has come to its end.
    private static let mostQuestions = 100_000

    let counts = Counts()
    private let driver: any LoopDriver
    private let stopSpinning: () -> Void

    init(_ driver: any LoopDriver, stopSpinning: @escaping () -> Void) {
        self.driver = driver
        self.stopSpinning = stopSpinning
    }

    private func count() {
        let number = counts.questions.add(1, ordering: .relaxed).newValue
        if number > Self.mostQuestions { stopSpinning() }
    }

    var remote: any LoopRemote {
        count()
        return driver.remote
    }

    func poll() {
        count()
        driver.poll()
    }

    func wait(until moment: Moment?, now: Int64) {
        count()
        counts.begunWaits.add(1, ordering: .sequentiallyConsistent)
        driver.wait(until: moment, now: now)
        counts.endedWaits.add(1, ordering: .sequentiallyConsistent)
    }

    var readyCount: Int {
        count()
        return driver.readyCount
    }

    func takeReport() -> ReadyReport? { driver.takeReport() }

    func watch(
        _ changes: [WatchChange],
        ifCurrent isCurrent: (WatchChange) -> Bool,
        refused: (WatchChange, UVError) -> Void
    ) {
        count()
        driver.watch(changes, ifCurrent: isCurrent, refused: refused)
    }

    func rearm(_ change: WatchChange) -> Bool { driver.rearm(change) }

    func forgetReleased() { driver.forgetReleased() }

    func close() { driver.close() }
}
