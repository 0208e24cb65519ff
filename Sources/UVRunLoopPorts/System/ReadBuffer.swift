internal import UVLibc
import Synchronization
import UVRunLoop

/// A pooled buffer for reads.
///
/// There are as many as threads that read at the same time, not one per connection.
@safe
struct ReadBuffer: ~Copyable, Sendable {
    /// Enough for what a fast peer sends during one pass.
    static let size = 65536

    private let address: UInt
    /// The slot at which the calling thread starts its search.
    private let home: Int

    private init() {
        home = BufferPool.home
        address = BufferPool.take(from: home) ?? Self.allocate()
    }

    /// Lends a buffer; its contents are undefined.
    static func lend<Result, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let buffer = ReadBuffer()
        let raw = unsafe UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(bitPattern: buffer.address),
            count: size
        )
        return unsafe try body(raw)
    }

    deinit {
        if BufferPool.put(address, at: home) { return }
        unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
    }

    private static func allocate() -> UInt {
        UInt(
            bitPattern: UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        )
    }
}

/// The unused buffers.
///
/// The pool is lock-free, so a forked child inherits no lock that another thread holds. It consists
/// of slots for one buffer each. A thread's search starts at a slot of its own, where it usually
/// finds the buffer it returned last.
private enum BufferPool {
    /// The most buffers kept; more threads than this rarely read at once.
    private static let count = 16
    /// One slot per cache line, to avoid false sharing.
    private static let distance = 8
    /// Addresses; 0 for an empty slot.
    private static let slots = InlineArray<128, Atomic<UInt>> { _ in Atomic(0) }

    /// The first slot of the calling thread; threads may share one.
    static var home: Int {
        // The upper bits of the product depend on all bits in which the threads' addresses differ.
        Int(UInt(pthread_self()) &* 0x9E37_79B9_7F4A_7C15 >> 60)
    }

    static func take(from home: Int) -> UInt? {
        for slot in home..<home + count {
            let index = slot % count * distance
            // A load leaves the cache line shared; an exchange takes it from other threads.
            guard slots[index].load(ordering: .relaxed) != 0 else { continue }
            let address = slots[index].exchange(0, ordering: .acquiring)
            if address != 0 { return address }
        }
        return nil
    }

    /// Returns a buffer to the pool; `false` if the pool is full.
    static func put(_ address: UInt, at home: Int) -> Bool {
        for slot in home..<home + count {
            let index = slot % count * distance
            guard slots[index].load(ordering: .relaxed) == 0 else { continue }
            let (isStored, _) = slots[index].compareExchange(
                expected: 0,
                desired: address,
                ordering: .releasing
            )
            if isStored { return true }
        }
        return false
    }
}
