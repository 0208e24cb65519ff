import CUV

/// Polls, sleeps and watches descriptors for a loop.
///
/// `UVDriver` does so with libuv; tests use a driver with a virtual clock. Every method is called
/// on the loop's thread. None runs user code, except callbacks of foreign handles and, at the end,
/// the release of what handlers of hosted sources captured. Events are reported by
/// ``takeReport()``, ``announceHosted(ifExpected:)`` and ``WakeState``.
package protocol LoopDriver: AnyObject {
    /// The part of the driver that other threads may use.
    var remote: any LoopRemote { get }

    /// Polls without waiting.
    func poll()

    /// Frees what was closed or cancelled since the latest poll; called by a run without a pass.
    /// Sources of hosted handles for which something has happened become ready.
    ///
    /// - Parameter lost: Called with each descriptor that the driver has stopped to watch.
    func reclaim(lost: (ReadyReport) -> Void)

    /// Waits until a descriptor is ready, the word is marked, or the moment has come; may return
    /// spuriously.
    ///
    /// - Parameters:
    ///   - moment: The latest time to return; `nil` for never.
    ///   - now: The loop's current time, or a time slightly before; ignored without a moment.
    func wait(until moment: Moment?, now: Int64)

    /// The number of descriptors and hosted sources that the latest poll or wait found ready.
    var readyCount: Int { get }

    /// Takes the next report of the latest poll or wait; `nil` when there is none left.
    ///
    /// All reports are taken before the loop polls or waits again, except by a run that the release
    /// of an observer makes in between; level-triggered descriptors are then reported once more.
    func takeReport() -> ReadyReport?

    /// Makes the hosted sources ready that the latest poll or wait found; called before the next
    /// one.
    ///
    /// - Parameter ifExpected: Whether only those are that are expected to be ready; the others are
    ///   left to the next call.
    func announceHosted(ifExpected: Bool)

    /// Watches descriptors as the changes say.
    ///
    /// - Parameters:
    ///   - changes: The descriptors and their events.
    ///   - isCurrent: Whether a change is still valid; called while no other thread can release the
    ///     descriptor.
    ///   - refused: Called for every descriptor that the kernel refuses to watch, with its error.
    func watch(
        _ changes: [WatchChange],
        ifCurrent isCurrent: (WatchChange) -> Bool,
        refused: (WatchChange, UVError) -> Void
    )

    /// Reduces the events of a watched descriptor; without events, the kernel reports nothing.
    ///
    /// - Returns: `false` if the kernel refused, and no longer watches the descriptor.
    func rearm(_ change: WatchChange) -> Bool

    /// Removes released descriptors from the driver's tables; their numbers may be reused
    /// afterwards.
    ///
    /// Called on the loop's thread.
    func forgetReleased()

    /// Lends libuv's loop; from then on it may contain foreign handles.
    ///
    /// - Returns: The loop; `nil` if the driver has none.
    func lend() -> UnsafeMutablePointer<uv_loop_t>?

    /// The host for handles of further products; `nil` if the driver has no libuv loop.
    func host() -> HandleHost?

    /// Whether libuv is calling a callback now.
    var isInsideLibuv: Bool { get }

    /// Queries the kernel for a hang-up of a descriptor that the latest poll reported without one.
    ///
    /// - Returns: Whether there is one, which the report then tells.
    func findHangUp(_ report: inout ReadyReport) -> Bool

    /// Closes everything and releases what it holds; no method is called afterwards.
    ///
    /// The driver itself lives as long as its loop.
    func close()
}

extension LoopDriver {
    package func reclaim(lost: (ReadyReport) -> Void) {}

    package func findHangUp(_ report: inout ReadyReport) -> Bool { false }

    package func announceHosted(ifExpected: Bool) {}

    package func forgetReleased() {}
    package func lend() -> UnsafeMutablePointer<uv_loop_t>? { nil }
    package func host() -> HandleHost? { nil }
    package var isInsideLibuv: Bool { false }
}

/// Creates the driver of a loop whose sleep the word coordinates.
package typealias DriverMaker = @Sendable (WakeState) throws(UVError) -> any LoopDriver

/// The part of a loop's driver that any thread may use.
package protocol LoopRemote: AnyObject, Sendable {
    /// Nanoseconds of the loop's clock.
    var now: Int64 { get }

    /// Whether the loop's clock is the system's monotonic clock; always the same.
    var isOnSystemClock: Bool { get }

    /// Makes the loop's wait return.
    func wake()

    /// Stops watching a descriptor before the call returns, so that its owner may close it.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor.
    ///   - isWanted: Whether the descriptor is still in use; called while the loop cannot start to
    ///     watch it again.
    func release(_ descriptor: CInt, unless isWanted: () -> Bool)

    /// Makes a descriptor non-blocking that the loop is to watch from its next poll on, and that
    /// the program may read before then.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor.
    ///   - isWanted: Whether the descriptor is still in use.
    func makeNonblocking(_ descriptor: CInt, if isWanted: () -> Bool)

    /// Stops watching all descriptors before the call returns, because the loop has ended.
    func releaseAll()
}

extension LoopRemote {
    package var isOnSystemClock: Bool { false }
}
