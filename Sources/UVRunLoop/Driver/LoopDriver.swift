import CUV

/// What a loop needs from the world: to look, to sleep and to have descriptors watched.
///
/// `UVDriver` gives it by libuv. Tests put a virtual clock in its place. Every call is made on the
/// loop's thread and none of them runs user code; what happened is told by ``forEachReady(_:)``
/// and ``WakeState``.
package protocol LoopDriver: AnyObject {
    /// What other threads may use of the driver.
    var remote: any LoopRemote { get }

    /// Asks what is ready, without waiting.
    func poll()

    /// Waits until a descriptor is ready, the word is changed, or the moment has come; may return
    /// for nothing.
    ///
    /// - Parameters:
    ///   - moment: When to return at the latest; `nil` for never.
    ///   - now: The time as the loop knows it, at most a little in the past; without meaning when
    ///     there is no moment.
    func wait(until moment: Moment?, now: Int64)

    /// How much the latest look or wait found ready.
    var readyCount: Int { get }

    /// Names what the latest look or wait found ready.
    func forEachReady(_ body: (Readiness) -> Void)

    /// Has the kernel report what the orders say, from now on.
    ///
    /// - Parameters:
    ///   - orders: What to watch.
    ///   - isCurrent: Asked where no other thread can withdraw the descriptor meanwhile.
    ///   - refused: Told of every descriptor that the kernel would not watch.
    func watch(
        _ orders: [WatchOrder],
        ifCurrent isCurrent: (WatchOrder) -> Bool,
        refused: (WatchOrder) -> Void
    )

    /// Has the kernel report less of a descriptor that is watched, or, without events, nothing at
    /// all.
    ///
    /// - Returns: `false` when the kernel would not, and so does not watch the descriptor any
    ///   more.
    func rearm(_ order: WatchOrder) -> Bool

    /// Forgets descriptors that were released, on the loop's thread: their numbers may be those of
    /// other files right afterwards.
    func forgetReleased()

    /// Lends libuv's loop, and counts from then on with handles in it that are not the driver's.
    ///
    /// - Returns: The loop; `nil` from a driver that has none.
    func lend() -> UnsafeMutablePointer<uv_loop_t>?

    /// Ends a loan: what was done to the loop that would confuse the driver is undone.
    func takeBack()

    /// Whether libuv is calling somebody's handle at this moment.
    var isInsideLibuv: Bool { get }

    /// Gives everything back. Nothing is called afterwards.
    func close()
}

extension LoopDriver {
    package func forgetReleased() {}
    package func lend() -> UnsafeMutablePointer<uv_loop_t>? { nil }
    package func takeBack() {}
    package var isInsideLibuv: Bool { false }
}

extension LoopRemote {
    package func time(notBefore date: Int64) -> Int64 { max(date, now) }
}

/// What any thread may ask of a loop's driver.
package protocol LoopRemote: AnyObject, Sendable {
    /// Nanoseconds of the loop's clock.
    var now: Int64 { get }

    /// A date, or the present one when that has passed.
    func time(notBefore date: Int64) -> Int64

    /// Makes the loop's wait return.
    func wake()

    /// Ends the watch on a descriptor for good, before the call returns: its owner may close it
    /// then.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor.
    ///   - isWanted: Asked where the loop cannot begin to watch the descriptor anew meanwhile.
    func release(_ descriptor: CInt, unless isWanted: () -> Bool)
}
