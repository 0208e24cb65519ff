/// The blocks that run together, taken out one by one.
@safe
struct BlockBatch: ~Copyable {
    typealias Element = BlockItem.Content

    private var elements: UnsafeMutablePointer<Element>?
    private(set) var capacity = 0
    private var first = 0
    private var end = 0

    init() {}

    var count: Int { end - first }

    @inline(__always)
    mutating func append(_ block: consuming Element) {
        if end == capacity { grow() }
        unsafe (elements.unsafelyUnwrapped + end).initialize(to: block)
        end &+= 1
    }

    /// Appends blocks that a body puts behind each other, at a pointer.
    ///
    /// - Parameters:
    ///   - most: The greatest number of them.
    ///   - body: Returns the number.
    @inline(__always)
    mutating func append(atMost most: Int, _ body: (UnsafeMutablePointer<Element>) -> Int) {
        while capacity &- end < most { grow() }
        unsafe end &+= body(elements.unsafelyUnwrapped + end)
    }

    /// Takes the oldest block that is left.
    @inline(__always)
    mutating func takeNext() -> Element? {
        guard first < end else { return nil }
        first &+= 1
        return unsafe (elements.unsafelyUnwrapped + (first - 1)).move()
    }

    /// Releases what is left; keeps the memory, up to 1 MiB.
    @inline(__always)
    mutating func removeAll() {
        while takeNext() != nil {}
        (first, end) = (0, 0)
        if capacity > 1 << 16 { self = BlockBatch() }
    }

    @inline(never)
    private mutating func grow() {
        capacity = max(32, 2 * capacity)
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        if let elements = unsafe elements {
            unsafe (larger + first).moveInitialize(from: elements + first, count: end - first)
            unsafe elements.deallocate()
        }
        unsafe elements = larger
    }

    deinit {
        guard let elements = unsafe elements else { return }
        unsafe (elements + first).deinitialize(count: end - first)
        unsafe elements.deallocate()
    }
}
