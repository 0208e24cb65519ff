import CUV

/// Ends a loop's sleep at a moment: coarsely with a `uv_timer`, finely with a timerfd watched by a
/// `uv_poll`.
///
/// It remembers what is armed, because most sleeps need no change. The timerfd is never read;
/// setting it clears its readiness. Once its date has passed, it must be set or disarmed before the
/// next sleep, or it would end every sleep at once.
@safe
struct UVAlarm: ~Copyable {
    private let loop: UnsafeMutablePointer<uv_loop_t>
    private let coarse: UVHandle<uv_timer_t>
    private var coarseDate: Int64?
    private var fine: FineTimer?
    private var fineDate: Int64?
    /// When to try again to open a timerfd, for which no descriptor was left, or which could not be
    /// set; all dates are coarse until then.
    private var nextAttempt = Int64.min

    init(loop: UnsafeMutablePointer<uv_loop_t>) {
        unsafe self.loop = unsafe loop
        do {
            unsafe coarse = try UVHandle { raw in unsafe uv_timer_init(loop, raw) }
        } catch {
            fail("Bug in UVRunLoop: libuv refuses a timer, for which it needs nothing: \(error).")
        }
    }

    /// Whether libuv's clock must be updated before it sleeps.
    var isCoarse: Bool { coarseDate != nil }

    /// Whether setting the alarm for a moment may take a descriptor.
    func mayOpenTimer(for moment: Moment?) -> Bool { fine == nil && moment?.isCoarse == false }

    mutating func set(for moment: Moment?, now: Int64) {
        guard let moment else {
            stopCoarse()
            // For a sleep without an end the clock was not read: the date may have passed.
            return clearPassedFine(now: .max)
        }
        if !moment.isCoarse, setFine(moment.date, now: now) { return stopCoarse() }
        clearPassedFine(now: now)
        setCoarse(moment.date, now: now)
    }

    // MARK: Coarse

    /// Arms the `uv_timer` for the first whole millisecond that is not before the date.
    ///
    /// libuv adds the delay to its own clock reading, so that reading may be outdated.
    private mutating func setCoarse(_ date: Int64, now: Int64) {
        // A poll without waiting may have consumed the timer, so ask libuv whether it is active.
        let isArmed = unsafe uv_is_active(coarse.generic) != 0
        if isArmed, let coarseDate, coarseDate == date || isKept(coarseDate, for: date, now: now) {
            return
        }
        coarseDate = date
        let milliseconds = UInt64(date.roundedUpToMilliseconds)
        let delay = milliseconds - min(milliseconds, unsafe uv_now(loop))
        let stopLoop: uv_timer_cb = { handle in
            guard let handle = unsafe handle else { return }
            unsafe uv_stop(handle.pointee.loop)
        }
        let status = unsafe uv_timer_start(coarse.raw, stopLoop, delay, 0)
        assert(status == 0, "Bug in UVRunLoop: a uv_timer could not be started.")
    }

    /// Whether an armed date that comes before the requested one may stay.
    ///
    /// The sleep then ends early, once, and continues. So a date that moves with every sleep, such
    /// as the limit of a short run, arms the timer at most once a second. This saves 107 of the
    /// 3,789 instructions of a run that sleeps and serves one descriptor.
    private func isKept(_ armed: Int64, for date: Int64, now: Int64) -> Bool {
        armed <= date && armed.addingSaturating(-1_000_000_000) >= now
    }

    private mutating func stopCoarse() {
        guard coarseDate != nil else { return }
        coarseDate = nil
        _ = unsafe uv_timer_stop(coarse.raw)
    }

    // MARK: Fine

    private mutating func setFine(_ date: Int64, now: Int64) -> Bool {
        guard openFine(now: now) else { return false }
        // An earlier date in the future may stay: the sleep ends early, once, and continues.
        if let fineDate, fineDate > now, fineDate <= date { return true }
        guard fine?.set(to: max(date, 1)) == true else {
            closeFine()
            putOffAttempts(now: now)
            return false
        }
        fineDate = date
        return true
    }

    /// Closes a timerfd that cannot be set: it would be ready forever, or never.
    private mutating func closeFine() {
        // Not `take()`, after which an unoptimised build finds the timerfd still there.
        exchange(&fine, with: nil)?.close()
        fineDate = nil
    }

    /// Disarms the timerfd if its date has passed, which clears its readiness.
    mutating func clearPassedFine(now: Int64) {
        guard let date = fineDate, date <= now else { return }
        fineDate = nil
        if fine?.set(to: 0) == false { closeFine() }
    }

    private mutating func openFine(now: Int64) -> Bool {
        if fine != nil { return true }
        guard now >= nextAttempt else { return false }
        do {
            fine = try unsafe FineTimer(loop: loop)
            return true
        } catch {
            putOffAttempts(now: now)
            return false
        }
    }

    /// Makes dates coarse for 100 ms.
    private mutating func putOffAttempts(now: Int64) {
        nextAttempt = now.addingSaturating(100_000_000)
    }

    consuming func close() {
        unsafe coarse.close()
        fine?.close()
    }
}

extension Int64 {
    /// Whole milliseconds from nanoseconds, rounded up so that a timer never fires early.
    ///
    /// A negative number counts as zero.
    fileprivate var roundedUpToMilliseconds: Int64 {
        let (whole, rest) = Swift.max(self, 0).quotientAndRemainder(dividingBy: 1_000_000)
        return rest == 0 ? whole : whole + 1
    }
}
