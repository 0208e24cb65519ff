internal import CUVSupport
import Synchronization

/// A lock for short critical sections, which call no user code.
///
/// One compare-exchange acquires it and one exchange releases it. A thread that finds it held spins
/// for a bounded time, then sleeps in the kernel until it is released. The lock is not handed over:
/// a running thread may acquire it before one that was just woken. `Mutex` hands over from thread
/// to thread: when eight threads contended on two cores, a call cost more than a thousand times as
/// much.
///
/// It must not move while a thread waits, so it lives in objects and in globals.
@safe
@usableFromInline
struct Lock: ~Copyable, Sendable {
    @usableFromInline static let free: UInt32 = 0
    @usableFromInline static let held: UInt32 = 1
    /// Held, and a thread may be sleeping until it is released.
    @usableFromInline static let contended: UInt32 = 2

    @usableFromInline let word = Atomic<UInt32>(Lock.free)

    @inlinable
    init() {}

    @inlinable
    @inline(__always)
    borrowing func acquire() {
        let (isTaken, _) = word.compareExchange(
            expected: Lock.free,
            desired: Lock.held,
            ordering: .acquiring
        )
        if !isTaken { acquireSlowly() }
    }

    @inlinable
    @inline(__always)
    borrowing func release() {
        if word.exchange(Lock.free, ordering: .releasing) == Lock.contended { wakeOne() }
    }

    /// Runs the body while the lock is held; it must not call user code.
    @inline(__always)
    borrowing func held<Result>(_ body: () -> Result) -> Result {
        acquire()
        defer { release() }
        return body()
    }

    @usableFromInline
    @inline(never)
    borrowing func acquireSlowly() {
        var backoff = Backoff()
        while backoff.pause() {
            if word.load(ordering: .relaxed) == Self.free, takeIfFree() { return }
        }
        // From here on the word says that a thread sleeps, because a woken thread cannot know
        // whether others still do.
        var timeouts = 0
        while word.exchange(Self.contended, ordering: .acquiring) != Self.free {
            timeouts = sleep() ? 0 : timeouts + 1
            checkHolderLives(timeouts)
        }
    }

    private borrowing func takeIfFree() -> Bool {
        word.compareExchange(
            expected: Self.free,
            desired: Self.held,
            ordering: .acquiring
        ).exchanged
    }

    /// Sleeps while the lock is contended; may return spuriously.
    ///
    /// - Returns: `false` if nothing has happened for ``patience``.
    private borrowing func sleep() -> Bool {
        unsafe withUnsafePointer(to: word) { word in
            unsafe cuv_futex_wait(word, Self.contended, Self.patience) == 0
        }
    }

    /// Traps in a forked child whose lock is never released.
    ///
    /// No critical section takes that long. A thread that holds the lock may be kept from running,
    /// if the child has others; otherwise, and after a long time, it is one of the parent that held
    /// the lock during the fork. It does not exist in the child, and its change is half done.
    private borrowing func checkHolderLives(_ timeouts: Int) {
        // A single timeout may be due to a process that was stopped meanwhile.
        guard timeouts > 1, ForkCount.current > 0 else { return }
        let isGone = cuv_is_only_thread() != 0 || timeouts > Self.longestSection
        require(!isGone, ForkCount.changeWasInterrupted)
    }

    /// The longest time of one sleep, in nanoseconds.
    private static let patience: Int64 = 2_000_000_000
    /// For how many such sleeps a thread with a lock may be kept from running.
    private static let longestSection = 15

    @usableFromInline
    @inline(never)
    borrowing func wakeOne() {
        unsafe withUnsafePointer(to: word) { word in unsafe cuv_futex_wake(word, 1) }
    }
}

/// Spins for a bounded time, at growing intervals.
///
/// Reading a word takes its cache line from the thread that works on it: reading it after every
/// pause, two threads that shared a lock got half as much done as one. And whoever gets the lock
/// fetches what is behind it. The first interval is as long as dozens of critical sections, so the
/// other thread does many meanwhile. With 32 pauses instead of 128, eight threads that made, added
/// and invalidated timers took 550 ns of CPU time for each instead of 400, and one takes 160.
struct Backoff {
    private var pauses = 128
    private static let most = 256

    /// Spins for a while; returns `false` when it is time to sleep.
    mutating func pause() -> Bool {
        guard pauses <= Self.most else { return false }
        for _ in 0..<pauses { cuv_pause() }
        pauses *= 2
        return true
    }
}

/// Lets other threads run, for at least 20 µs.
func sleepBriefly() { cuv_nap() }
