import Synchronization

/// The segments of a ``SlotQueue``, some of which are kept to be filled again.
///
/// A slot's number is the address of its segment, moved up by the bits that no address has and its
/// topmost one, and the index of the slot in the bits that are zero then. There is room for the
/// additions of two million threads.
///
/// ``SlotQueue`` defines which thread may use a slot.
@safe
struct QueueSegments<Item>: ~Copyable, SlotSegments {
    /// The address of a slot.
    @safe
    struct Place {
        fileprivate let address: UnsafeMutableRawPointer

        @inline(__always)
        fileprivate init(_ address: UnsafeMutableRawPointer) { unsafe self.address = address }
    }

    static var capacity: UInt64 { 126 }
    static var indexBits: UInt64 { 1 << 21 - 1 }
    static var closed: UInt64 { 1 << 63 }

    private static var addressShift: UInt64 { 15 }
    private static var alignment: Int { 64 }
    /// A slot is its mark and its item.
    private static var slotSize: Int { 8 + MemoryLayout<Item>.stride }
    private static var segmentSize: Int { alignment + Int(capacity) * slotSize }
    private static var mostSpare: Int { 4 }

    // The segments, oldest first; each begins with the number of the one that follows. Changed under
    // the lock only: they are atomic because a noncopyable constant has no other variables.
    private let oldest = Atomic<UInt64>(0)
    private let spare = Atomic<UInt64>(0)
    private let spareCount = Atomic<Int>(0)
    private let lock = Lock()

    init() {}

    // MARK: Slots

    @inline(__always)
    private static func segment(of slot: UInt64) -> UnsafeMutableRawPointer? {
        unsafe UnsafeMutableRawPointer(bitPattern: UInt((slot & ~indexBits) >> addressShift))
    }

    @inline(__always)
    static func place(of slot: UInt64) -> Place {
        let segment = UInt((slot & ~indexBits) >> addressShift)
        let offset = UInt(slot & indexBits) &* UInt(slotSize) &+ UInt(alignment)
        return unsafe Place(
            UnsafeMutableRawPointer(bitPattern: segment &+ offset).unsafelyUnwrapped
        )
    }

    @inline(__always)
    static func place(after place: Place) -> Place { unsafe Place(place.address + slotSize) }

    @inline(__always)
    private static func mark(at place: Place) -> UnsafeMutablePointer<SystemWord> {
        unsafe place.address.assumingMemoryBound(to: SystemWord.self)
    }

    @inline(__always)
    static func item(at place: Place) -> UnsafeMutablePointer<Item> {
        unsafe (place.address + 8).assumingMemoryBound(to: Item.self)
    }

    @inline(__always)
    func fill(_ place: Place, with item: consuming Item) {
        unsafe Self.item(at: place).initialize(to: item)
    }

    @inline(__always)
    func take(_ place: Place) -> Item { unsafe Self.item(at: place).move() }

    @inline(__always)
    func storeMark(_ mark: UInt64, at place: Place) {
        unsafe Self.mark(at: place).pointee.storeSequential(mark)
    }

    @inline(__always)
    func loadMark(at place: Place) -> UInt64 {
        unsafe Self.mark(at: place).pointee.loadSequential()
    }

    @inline(__always)
    func clearMark(at place: Place) {
        unsafe Self.mark(at: place).pointee.storeReleasing(SlotMark.none)
    }

    // MARK: Segments

    func withLock<Result>(_ body: () -> Result) -> Result { lock.held(body) }

    func makeSegment(after slot: UInt64) -> UInt64 {
        let next = takeSpare() ?? Self.allocate()
        if let previous = unsafe Self.segment(of: slot) {
            unsafe previous.storeBytes(of: next, as: UInt64.self)
        } else {
            oldest.store(next, ordering: .relaxed)
        }
        return next
    }

    func segment(after slot: UInt64) -> UInt64 {
        guard let segment = unsafe Self.segment(of: slot) else {
            return oldest.load(ordering: .relaxed)
        }
        return unsafe segment.load(as: UInt64.self)
    }

    /// Keeps the oldest segment to be filled again, or frees it if enough are kept.
    func recycle(_ slot: UInt64) {
        guard let segment = unsafe Self.segment(of: slot) else { return }
        oldest.store(unsafe segment.load(as: UInt64.self), ordering: .relaxed)
        let count = spareCount.load(ordering: .relaxed)
        guard count < Self.mostSpare else { return unsafe segment.deallocate() }
        unsafe segment.storeBytes(of: spare.load(ordering: .relaxed), as: UInt64.self)
        spare.store(slot & ~Self.indexBits, ordering: .relaxed)
        spareCount.store(count + 1, ordering: .relaxed)
    }

    private func takeSpare() -> UInt64? {
        let taken = spare.load(ordering: .relaxed)
        guard let segment = unsafe Self.segment(of: taken) else { return nil }
        spare.store(unsafe segment.load(as: UInt64.self), ordering: .relaxed)
        spareCount.store(spareCount.load(ordering: .relaxed) - 1, ordering: .relaxed)
        unsafe segment.storeBytes(of: 0, as: UInt64.self)
        return taken
    }

    private static func allocate() -> UInt64 {
        let segment = UnsafeMutableRawPointer.allocate(
            byteCount: segmentSize,
            alignment: alignment
        )
        unsafe segment.storeBytes(of: 0, as: UInt64.self)
        let first = UInt64(UInt(bitPattern: segment)) << addressShift
        for index in 0..<capacity {
            unsafe mark(at: place(of: first + index)).initialize(to: SystemWord(SlotMark.none))
        }
        return first
    }

    deinit {
        // Items that were never taken, of a loop whose thread did not end.
        free(from: oldest.load(ordering: .relaxed), holdsItems: true)
        free(from: spare.load(ordering: .relaxed), holdsItems: false)
    }

    private func free(from first: UInt64, holdsItems: Bool) {
        var next = first
        while let segment = unsafe Self.segment(of: next) {
            if holdsItems { deinitializeItems(of: next) }
            next = unsafe segment.load(as: UInt64.self)
            unsafe segment.deallocate()
        }
    }

    private func deinitializeItems(of first: UInt64) {
        for slot in first..<first + Self.capacity {
            let place = Self.place(of: slot)
            if loadMark(at: place) >= SlotMark.first {
                unsafe Self.item(at: place).deinitialize(count: 1)
            }
        }
    }
}
