@testable import UVRunLoop

/// The segments of the explorer's queue, each of one slot, so that every post changes the segment.
///
/// A slot's content is a word too: a block's number and one, so that an empty slot is no block.
struct ModelSegments: ~Copyable, SlotSegments {
    static let count = 4

    static var capacity: UInt64 { 1 }
    static var indexBits: UInt64 { 7 }
    static var closed: UInt64 { 128 }

    private let recital: Recital
    private let marks: InlineArray<4, ModelWord>
    private let items: InlineArray<4, ModelWord>
    private let chain = Chain()

    /// The segments in the tail or before it, oldest first; lent with the lock.
    private final class Chain: @unchecked Sendable {
        var segments: [UInt8] = []
        /// Up to where the loop takes.
        var end: UInt64 = 0
    }

    init() {
        guard let recital = Recital.underConstruction else {
            preconditionFailure("The segments of a model are made within World.make(mutant:).")
        }
        self.recital = recital
        marks = InlineArray { _ in ModelWord(SlotMark.none) }
        items = InlineArray { _ in ModelWord(0) }
    }

    /// To be called before the loop takes: where it stops when its program is over.
    func willTake(upTo end: UInt64) { chain.end = end }

    // MARK: Slots

    private func index(of slot: UInt64) -> Int? {
        let segment = Int(slot >> 3)
        return 1...Self.count ~= segment ? segment - 1 : nil
    }

    static func place(of slot: UInt64) -> UInt64 { slot }

    static func place(after place: UInt64) -> UInt64 { place + 1 }

    func fill(_ slot: UInt64, with item: UInt8) {
        guard let index = index(of: slot) else { return }
        if recital.structure == .markedBeforeItIsFilled {
            marks[index].storeSequential(World.mark(of: item))
        }
        items[index].storeRelaxed(UInt64(item) + 1)
    }

    func take(_ slot: UInt64) -> UInt8 {
        guard let index = index(of: slot) else { return 0 }
        return UInt8(truncatingIfNeeded: items[index].loadRelaxed() &- 1)
    }

    func storeMark(_ mark: UInt64, at slot: UInt64) {
        guard let index = index(of: slot) else { return }
        if recital.structure == .markedBeforeItIsFilled, mark != SlotMark.taken { return }
        marks[index].storeSequential(mark)
    }

    func loadMark(at slot: UInt64) -> UInt64 {
        index(of: slot).map { marks[$0].loadSequential() } ?? SlotMark.none
    }

    func clearMark(at slot: UInt64) {
        if let index = index(of: slot) { marks[index].storeReleasing(SlotMark.none) }
    }

    // MARK: Segments

    func withLock<Result>(_ body: () -> Result) -> Result {
        recital.withLock(World.segments) { bytes in
            chain.segments = Array(bytes.dropFirst())
            let result = body()
            bytes = [0] + chain.segments
            return result
        }
    }

    func makeSegment(after slot: UInt64) -> UInt64 {
        guard !recital.isOver else { return 0 }
        let unused = (1...UInt8(Self.count)).first { !chain.segments.contains($0) }
        // A mutant may lose track of them.
        let segment = unused ?? 1
        chain.segments.append(segment)
        return UInt64(segment) << 3
    }

    func segment(after slot: UInt64) -> UInt64 {
        guard !recital.isOver else { return chain.end }
        let segment = UInt8(slot >> 3)
        let place = chain.segments.firstIndex(of: segment).map { $0 + 1 } ?? 0
        let next = place < chain.segments.count ? UInt64(chain.segments[place]) << 3 : chain.end
        return next
    }

    func recycle(_ slot: UInt64) { chain.segments.removeAll { $0 == UInt8(slot >> 3) } }
}
