internal import CUVSupport

/// A growing array with one owner.
///
/// An `Array` may be shared, so every change checks whether it is, and retains and releases it:
/// these were a quarter of the instructions that queued a timer. Indices are checked in debug
/// builds only: those used here are positions and slots that the owner has given out.
///
/// Growing moves the elements bitwise, which is valid for every type except weak references: they
/// must not be in one of these.
@safe
struct OwnedArray<Element: ~Copyable>: ~Copyable {
    private var memory: UnsafeMutablePointer<Element>?
    private(set) var count = 0
    private var capacity = 0

    init() {}

    deinit {
        guard let memory = unsafe memory else { return }
        unsafe memory.deinitialize(count: count)
        unsafe cuv_memory_free(memory)
    }

    var isEmpty: Bool { count == 0 }
    var indices: Range<Int> { 0..<count }

    subscript(index: Int) -> Element {
        @inline(__always)
        unsafeAddress { unsafe UnsafePointer(address(of: index)) }
        @inline(__always)
        unsafeMutableAddress { unsafe address(of: index) }
    }

    /// Where an element lies, until the array grows.
    @inline(__always)
    func address(of index: Int) -> UnsafeMutablePointer<Element> {
        assert(indices.contains(index), "Bug in UVRunLoop: an index is out of range.")
        return unsafe memory.unsafelyUnwrapped + index
    }

    @inline(__always)
    mutating func append(_ element: consuming Element) {
        if count == capacity { grow() }
        unsafe (memory.unsafelyUnwrapped + count).initialize(to: element)
        count &+= 1
    }

    @inline(__always)
    mutating func removeLast() -> Element {
        assert(count > 0, "Bug in UVRunLoop: an empty array has no last element.")
        count &-= 1
        return unsafe (memory.unsafelyUnwrapped + count).move()
    }

    /// Removes every element, and keeps the memory.
    mutating func removeAll() {
        if let memory = unsafe memory { unsafe memory.deinitialize(count: count) }
        count = 0
    }

    /// Removes every element, and keeps the memory; none may hold anything that must be released.
    ///
    /// Deinitializing 10,000 empty references one by one took 37 instructions each.
    mutating func forgetAll() { count = 0 }

    /// Makes room for half as many elements more, not for as many again: there may be a million
    /// timers.
    ///
    /// The first ones get less than 1 KiB, of which malloc keeps pieces for each thread.
    @inline(never)
    private mutating func grow() {
        let stride = MemoryLayout<Element>.stride
        capacity += capacity / 2 + max(1, min(8, 1_000 / stride))
        let size = capacity * stride
        unsafe memory = cuv_memory_grow(memory, size).assumingMemoryBound(to: Element.self)
    }
}
