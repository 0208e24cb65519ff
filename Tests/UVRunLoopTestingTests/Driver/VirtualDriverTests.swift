import Glibc
import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopTesting

/// How a driver watches descriptors.
@Suite(.timeLimit(.minutes(15))) struct VirtualDriverTests {
    private let driver: VirtualDriver
    private let pipe = Pipe()

    init() throws {
        driver = try VirtualDriver(wakeState: WakeState(), clock: UVRunLoop.VirtualClock())
        pipe.write("x")
    }

    private func change(
        _ events: UVRunLoop.DescriptorEvents?,
        registration: UInt64 = 1
    ) -> WatchChange {
        WatchChange(descriptor: pipe.readEnd, registration: registration, events: events)
    }

    private func watch(_ change: WatchChange, isCurrent: Bool = true) -> Bool {
        var isRefused = false
        driver.watch([change], ifCurrent: { _ in isCurrent }, refused: { _, _ in isRefused = true })
        return !isRefused
    }

    private var reports: [UInt64] {
        driver.poll()
        var found: [UInt64] = []
        while let report = driver.takeReport() { found.append(report.registration) }
        return found
    }

    @Test func aWatchedDescriptorIsReportedUntilItIsReleased() {
        #expect(watch(change(.readable)))
        #expect(reports == [1])
        #expect(reports == [1])
        driver.remote.release(pipe.readEnd) { true }
        #expect(reports == [1])
        driver.remote.release(pipe.readEnd) { false }
        #expect(reports.isEmpty)
        driver.close()
    }

    @Test func aDescriptorIsWatchedForTheEventsOfItsLatestOrder() {
        #expect(watch(change(.writable)))
        #expect(reports.isEmpty)
        #expect(driver.rearm(change(.readable)))
        #expect(reports == [1])
        #expect(driver.rearm(change(nil)))
        #expect(reports.isEmpty)
        #expect(watch(change(.readable, registration: 2)))
        #expect(reports == [2])
        driver.close()
    }

    /// Its owner has closed the other file too early.
    @Test func aFileThatHasGotTheNumberIsNonBlockingToo() {
        #expect(watch(change(.readable)))
        let other = Pipe()
        #expect(dup2(other.readEnd, pipe.readEnd) == pipe.readEnd)
        #expect(!isNonBlocking(pipe.readEnd))
        #expect(watch(change(.readable, registration: 2)))
        #expect(isNonBlocking(pipe.readEnd))
        driver.close()
        #expect(!isNonBlocking(pipe.readEnd))
    }

    @Test func anOrderThatIsOutdatedHasNoEffect() {
        #expect(watch(change(.readable), isCurrent: false))
        #expect(reports.isEmpty)
        #expect(driver.rearm(change(.readable)))
        #expect(reports.isEmpty)
        #expect(watch(change(.readable, registration: 2)))
        #expect(driver.rearm(change(nil)))
        #expect(reports == [2])
        driver.close()
    }

    @Test func aClosedDescriptorIsRefused() {
        let change = WatchChange(descriptor: CInt.max, registration: 1, events: .readable)
        #expect(!watch(change))
        driver.close()
    }

    @Test func aDescriptorIsNonBlockingWhileItIsWatched() {
        func isBlocking() -> Bool { fcntl(pipe.readEnd, F_GETFL) & O_NONBLOCK == 0 }
        #expect(isBlocking())
        #expect(watch(change(.readable)))
        #expect(!isBlocking())
        driver.remote.release(pipe.readEnd) { false }
        #expect(isBlocking())
        #expect(watch(change(.readable)))
        #expect(!isBlocking())
        driver.close()
        #expect(isBlocking())
    }
}
