internal import CUVSupport

/// One signal that this process waits for, from its first source until its last is invalidated.
///
/// A signal that some thread does not block is delivered to a handler, which counts it and writes
/// to an eventfd. A signal that all threads block stays pending, and a signalfd reads it. All
/// sources of the signal share both descriptors, each in an epoll set of its own.
final class SignalWatch: Sendable {
    let signal: CInt
    /// An eventfd that every arrival writes to; never read.
    let arrivals: CInt
    /// A signalfd, readable while the signal is pending.
    let pending: CInt
    private let owned: Guarded<Owned?>
    private let process = OwnerProcess()

    /// The two descriptors, until the watch ends.
    private struct Owned: ~Copyable {
        let arrivals: Descriptor
        let pending: Descriptor
    }

    fileprivate init(_ signal: CInt) throws(UVError) {
        guard Self.canWait(for: signal) else { throw .invalidArgument }
        let pending = try Descriptor(opened: cuv_signal_open_pending(signal))
        let arrivals = try Descriptor.event()
        try accepted(cuv_signal_take(signal, arrivals.number))
        self.signal = signal
        self.pending = pending.number
        self.arrivals = arrivals.number
        owned = Guarded(Owned(arrivals: arrivals, pending: pending))
    }

    /// Whether the number is a signal that can be watched.
    ///
    /// Faults of a thread cannot: their cause is still there when a handler returns.
    private static func canWait(for signal: CInt) -> Bool {
        let faults = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS]
        return 1..<CInt(cuv_signal_count) ~= signal && !faults.contains(signal)
    }

    /// The number of arrivals so far, without pending ones that were not taken.
    var count: UInt64 { cuv_signal_arrivals(signal) }

    /// The place of the latest arrival among those of all signals; 0 if there was none.
    var latestArrival: UInt64 { cuv_signal_latest(signal) }

    /// Reads and counts the pending arrivals, and wakes their sources.
    ///
    /// - Returns: `false` if other code has set another disposition for the signal meanwhile. Then
    ///   the signal is that code's: Dispatch's handler, for example, blocks a signal and raises it
    ///   again for a signalfd of its own.
    func takePending() -> Bool {
        guard cuv_signal_is_taken(signal) != 0 else { return false }
        while case let count = cuv_signal_take_pending(pending), count > 0 {
            cuv_signal_record(signal, UInt64(count))
        }
        return true
    }

    /// Restores the previous disposition of the signal.
    fileprivate func end() {
        cuv_signal_give_back(signal)
        owned.withLock { $0 = nil }
    }

    // MARK: Sharing

    /// Returns the watch for a signal, for one more source.
    static func take(_ signal: CInt) throws(UVError) -> SignalWatch {
        try SignalRegistry.current.take(signal)
    }

    /// Ends the watch if no other source needs it.
    func giveBack() {
        // In a forked child the dispositions were restored by the fork handler.
        guard process.isCurrent else { return }
        SignalRegistry.current.giveBack(self)
    }
}

/// The signals that a process waits for.
private final class SignalRegistry: Sendable {
    private struct Entry {
        let watch: SignalWatch
        var sourceCount: Int
    }

    private let entries = Guarded<[CInt: Entry]>([:])

    // The lock of SIGCHLD is acquired first: it is held while a child is started, which may take
    // long, and other signals' sources do not wait for that.

    func take(_ signal: CInt) throws(UVError) -> SignalWatch {
        cuv_signal_lock(signal)
        defer { cuv_signal_unlock(signal) }
        return try entries.withLock { entries throws(UVError) -> SignalWatch in
            var entry =
                if let known = entries[signal] { known } else {
                    Entry(watch: try SignalWatch(signal), sourceCount: 0)
                }
            entry.sourceCount += 1
            entries[signal] = entry
            return entry.watch
        }
    }

    func giveBack(_ watch: SignalWatch) {
        cuv_signal_lock(watch.signal)
        defer { cuv_signal_unlock(watch.signal) }
        entries.withLock { entries in
            entries[watch.signal]?.sourceCount -= 1
            guard entries[watch.signal]?.sourceCount == 0 else { return }
            entries[watch.signal] = nil
            watch.end()
        }
    }

    private static let registry = PerProcess { SignalRegistry() }

    /// The registry of this process.
    static var current: SignalRegistry { registry.current }
}
