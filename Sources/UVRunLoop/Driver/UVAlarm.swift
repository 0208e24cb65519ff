import CUV

/// Ends a loop's sleep at a moment: coarsely by a `uv_timer`, finely by a timerfd under a
/// `uv_poll`.
///
/// It remembers what is armed, because most sleeps need no change. The timerfd is never read:
/// setting it anew takes its readiness away, and so it has to be set or disarmed before the next
/// sleep once its date has passed, or it would end every sleep at once.
@safe
struct UVAlarm: ~Copyable {
    private let loop: UnsafeMutablePointer<uv_loop_t>
    private let coarse: UVHandle<uv_timer_t>
    private var coarseDate: Int64?
    private var fine: FineTimer?
    private var fineDate: Int64?
    /// No descriptor was left for a timerfd: every date is met coarsely from then on.
    private var isOutOfDescriptors = false

    init(loop: UnsafeMutablePointer<uv_loop_t>) throws(UVError) {
        unsafe self.loop = unsafe loop
        unsafe coarse = try UVHandle { raw in unsafe uv_timer_init(loop, raw) }
    }

    /// Whether libuv has to know the time exactly before it sleeps.
    var isCoarse: Bool { coarseDate != nil }

    mutating func set(for moment: Moment?, now: Int64) {
        guard let moment else {
            stopCoarse()
            // Nobody looked at the clock for a sleep without an end: the date may have passed.
            return quietFine(now: .max)
        }
        if !moment.isCoarse, setFine(moment.date, now: now) { return stopCoarse() }
        quietFine(now: now)
        setCoarse(moment.date, now: now)
    }

    // MARK: Coarse

    /// Arms the `uv_timer` for the first whole millisecond that is not before the date.
    ///
    /// libuv adds the difference to its own idea of the time, so that idea need not be right here.
    private mutating func setCoarse(_ date: Int64, now: Int64) {
        // A look without waiting may have consumed the timer: what libuv says counts, not what was
        // armed.
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

    /// Whether an armed date that comes before the one asked for may stay.
    ///
    /// That sleep ends early, once, and goes on. Who asks for a date that moves on with every
    /// sleep, such as the limit of a short run, so arms the timer once a second at most.
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
        guard openFine() else { return false }
        // An earlier date that is still to come may stay: that sleep ends early, once, and goes on.
        if let fineDate, fineDate > now, fineDate <= date { return true }
        guard fine?.set(to: max(date, 1)) == true else {
            giveUpFine()
            return false
        }
        fineDate = date
        return true
    }

    /// Does without a timerfd that cannot be set: it would be ready for good, or never.
    private mutating func giveUpFine() {
        fine.take()?.close()
        fineDate = nil
    }

    /// Takes away the readiness of a date that has passed.
    mutating func quietFine(now: Int64) {
        guard let date = fineDate, date <= now else { return }
        fineDate = nil
        if fine?.set(to: 0) == false { giveUpFine() }
    }

    private mutating func openFine() -> Bool {
        guard fine == nil, !isOutOfDescriptors else { return !isOutOfDescriptors }
        do {
            fine = try unsafe FineTimer(loop: loop)
            return true
        } catch {
            isOutOfDescriptors = error == .tooManyOpenFiles || error == .tooManyOpenFilesInSystem
            return false
        }
    }

    consuming func close() {
        unsafe coarse.close()
        fine?.close()
    }
}

extension Int64 {
    /// Whole milliseconds, rounded up so that a timer never fires early.
    ///
    /// The number is nanoseconds, and not negative.
    fileprivate var roundedUpToMilliseconds: Int64 {
        let (whole, rest) = Swift.max(self, 0).quotientAndRemainder(dividingBy: 1_000_000)
        return rest == 0 ? whole : whole + 1
    }
}
