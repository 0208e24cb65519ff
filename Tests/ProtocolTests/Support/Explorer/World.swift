@testable import UVRunLoop

/// The state that a loop and its senders share, made of the shipped types on words of the model's.
///
/// Its methods are what `UVRunLoop` does around them; each names what it mirrors.
final class World: Sendable {
    static let segments = 0
    static let engine = 1
    static let remote = 2
    static let first = UVRunLoop.Mode(rawValue: "first")
    static let second = UVRunLoop.Mode(rawValue: "second")

    let recital: Recital
    let wake: GenericWakeState<ModelWord>
    let runs: GenericRunState<ModelWord>
    private let published: Publication<ModelWord>
    let queue: SlotQueue<ModelWord, ModelSegments>
    let plan: GenericSleepPlan<ModelWord>
    private let mutant: Mutant?

    /// The words by their numbers, which follow from the order in `init`.
    enum Word {
        static let wake = 0, run = 1, ending = 2, published = 3, tail = 4
        /// The first segment's.
        static let mark = 5, item = mark + ModelSegments.count
        static let planEnd = item + ModelSegments.count, planVersion = planEnd + 1
    }

    static func make(mutant: Mutant? = nil, hasTimers: Bool = false) -> World {
        let recital = Recital(fault: mutant?.fault, structure: mutant?.structure)
        return Recital.$underConstruction.withValue(recital) { World(recital, mutant, hasTimers) }
    }

    private init(_ recital: Recital, _ mutant: Mutant?, _ hasTimers: Bool) {
        self.recital = recital
        self.mutant = mutant
        wake = GenericWakeState()
        runs = GenericRunState()
        published = Publication()
        queue = SlotQueue()
        plan = GenericSleepPlan()
        _ = recital.intern([0])
        _ = recital.intern(EngineContent(hasTimers: hasTimers).bytes)
        _ = recital.intern(RemoteContent().bytes)
    }

    func has(_ structure: Mutant.Structure) -> Bool { mutant?.structure == structure }

    // MARK: Behind the locks

    /// `UVRunLoop.withEngine(_:)`, with a stand-in for the engine.
    func withEngine<Result>(_ body: (inout EngineContent) -> Result) -> Result {
        let (result, summary) = recital.withLock(Self.engine) { bytes in
            var engine = EngineContent(bytes)
            let result = body(&engine)
            bytes = engine.bytes
            if !has(.publishedAfterTheLock) { published.publish(engine.summary.bits) }
            return (result, engine.summary.bits)
        }
        if has(.publishedAfterTheLock) { published.publish(summary) }
        return result
    }

    // MARK: Blocks

    typealias Reader = SlotQueue<ModelWord, ModelSegments>.Reader

    /// `UVRunLoop.mark(of:)`, for a block's number, which says for which mode it is.
    static func mark(of number: UInt8) -> UInt64 { SlotMark.first + (number < 128 ? 0 : 1) }

    /// `SlotQueue.take(_:upTo:_:)`, as a list; after `SlotQueue.takeFront(_:upTo:mark:_:)`, if it
    /// is for a mode.
    func takeBlocks(_ reader: inout Reader, upTo end: UInt64, for mode: Int? = nil) -> [UInt8] {
        queue.segments.willTake(upTo: end)
        var numbers: [UInt8] = []
        if let mode {
            let mark = SlotMark.first + UInt64(mode)
            let hasMore = queue.takeFront(&reader, upTo: end, mark: mark) { _, take in
                _ = take { place in numbers.append(queue.segments.take(place)) }
            }
            guard hasMore else { return numbers }
        }
        queue.take(&reader, upTo: end) { place, _ in numbers.append(queue.segments.take(place)) }
        return numbers
    }

    var summary: EngineSummary { EngineSummary(bits: published.latest) }

    // MARK: Any thread

    /// `UVRunLoop.contentsDidChange()`.
    func contentsDidChange() {
        if wake.markChanged() { kick() }
    }

    /// `UVRunLoop.timersDidChange(soonest:)`.
    func timersDidChange(soonest date: UInt8) {
        let seemsAsleep = has(.planReadOfNoSleep) || wake.isAsleep
        let version = has(.planWithoutVersion) ? 0 : summary.version
        if seemsAsleep, plan.endsBefore(Int64(date), version: version) { return }
        contentsDidChange()
    }

    /// `UVRunLoop.blocksDidChange()`.
    func blocksDidChange() {
        if has(.unmarkedBlocks) { return }
        if wake.markChangedUnlessMarked() { kick() }
    }

    /// `UVRunLoop.wakeUp()`.
    func wakeUp() {
        if wake.markWoken() { kick() }
    }

    /// `UVRunLoop.stop()`.
    func stop() -> Bool {
        guard runs.stop() else { return false }
        contentsDidChange()
        return true
    }

    /// `UVRunLoop.end(_:)`.
    func end(_ end: RunEnd) {
        runs.endForGood(end)
        contentsDidChange()
    }

    /// `UVRemote.wake()`: `uv_async_send` under the lock that closing takes.
    func kick() {
        if has(.kickOutsideTheLock) {
            let isOpen = recital.withLock(Self.remote) { RemoteContent($0).isOpen }
            if isOpen { write() }
            return
        }
        recital.withLock(Self.remote) { bytes in
            if RemoteContent(bytes).isOpen { write() }
        }
    }

    private func write() {
        _ = recital.access(Step(kind: .write))
        recital.note(.kicked)
    }

    /// `UVRemote.close()`, and then the closing of the `uv_async` in `UVDriver.close()`.
    func closeRemote() {
        recital.withLock(Self.remote) { $0 = RemoteContent(isOpen: false).bytes }
        _ = recital.access(Step(kind: .close))
    }
}

/// The explorer's substitute for an engine: sources and items of two modes, timers of the first.
struct EngineContent: Equatable {
    var version: UInt8 = 1
    /// Which modes have a signalled source, and which have items, as bits.
    var signals: UInt8 = 0
    var items: UInt8 = 3
    /// The dates of timers, as bits.
    var dates: UInt8 = 0
    var isClosed = false

    /// The date of the only timer at first.
    static let firstDate: UInt8 = 2
    /// To which date it is put off, and the date of another timer.
    static let lateDate: UInt8 = 6, otherDate: UInt8 = 4
    /// The limit of a run, if it has one.
    static let limit: UInt8 = 1

    init(hasTimers: Bool = false) { if hasTimers { dates = 1 << Self.firstDate } }

    init(_ bytes: [UInt8]) {
        guard bytes.count == 6, bytes[0] == 1 else { return }
        (version, signals, items, dates, isClosed) =
            (bytes[1], bytes[2], bytes[3], bytes[4], bytes[5] != 0)
    }

    var bytes: [UInt8] { [1, version, signals, items, dates, isClosed ? 1 : 0] }

    /// Adds a timer; the first of the mode changes what a run's view shows, and so does the last
    /// that leaves.
    mutating func insert(_ date: UInt8) {
        if dates == 0 { version += 1 }
        dates |= 1 << date
    }

    mutating func remove(_ date: UInt8) {
        guard dates & 1 << date != 0 else { return }
        dates &= ~(1 << date)
        if dates == 0 { version += 1 }
    }

    /// Gives the timer of one date another one.
    mutating func move(_ former: UInt8, to date: UInt8) {
        if dates & 1 << former != 0 { dates = dates & ~(1 << former) | 1 << date }
    }

    /// The soonest date of a mode's timers; none is the end of all time.
    func soonest(in mode: Int) -> UInt8 {
        mode == 0 && dates != 0 ? UInt8(dates.trailingZeroBitCount) : .max
    }

    var summary: EngineSummary {
        var summary = EngineSummary.nothingToDo(version: UInt64(version))
        summary.mayHoldSignalledSources = signals != 0
        return summary
    }
}

struct RemoteContent {
    var isOpen = true

    init(isOpen: Bool = true) { self.isOpen = isOpen }
    init(_ bytes: [UInt8]) { isOpen = bytes == RemoteContent().bytes }

    var bytes: [UInt8] { [2, isOpen ? 1 : 0] }
}
