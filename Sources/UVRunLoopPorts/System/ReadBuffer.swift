import Glibc
import Synchronization
import UVRunLoop

/// The buffers into which ports read: as many as threads read at the same time, and not one for
/// each connection.
@safe
struct ReadBuffer: ~Copyable, Sendable {
    /// Room for what a fast peer sends in the time of one pass.
    static let size = 65536

    private let address: UInt
    /// Where the calling thread's search for a spare one begins.
    private let home: Int

    private init() {
        home = Spares.home
        address = Spares.take(from: home) ?? Self.allocate()
    }

    /// Lends a buffer; its contents are garbage before and after.
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
        if Spares.keep(address, at: home) { return }
        unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
    }

    private static func allocate() -> UInt {
        UInt(
            bitPattern: UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        )
    }
}

/// Buffers that nobody reads into.
///
/// There is no lock that a forked child could inherit from another thread. Each buffer has a slot.
/// A thread begins with a slot of its own, where as a rule it finds the buffer that it left there.
private enum Spares {
    /// More buffers than these are freed: a crowd of threads that read at once is the exception.
    private static let count = 16
    /// Slots lie a cache line apart, so that threads do not slow each other down.
    private static let distance = 8
    /// Addresses; 0 for an empty slot.
    private static let slots = InlineArray<128, Atomic<UInt>> { _ in Atomic(0) }

    /// The slot of the calling thread, which others may have too.
    static var home: Int {
        // The upper bits of the product depend on all those in which threads' addresses differ.
        Int(UInt(pthread_self()) &* 0x9E37_79B9_7F4A_7C15 >> 60)
    }

    static func take(from home: Int) -> UInt? {
        for slot in home..<home + count {
            let index = slot % count * distance
            // Reading costs other threads nothing, an exchange takes the cache line from them.
            guard slots[index].load(ordering: .relaxed) != 0 else { continue }
            let address = slots[index].exchange(0, ordering: .acquiring)
            if address != 0 { return address }
        }
        return nil
    }

    /// Keeps a buffer for later; `false` when there are enough.
    static func keep(_ address: UInt, at home: Int) -> Bool {
        for slot in home..<home + count {
            let index = slot % count * distance
            guard slots[index].load(ordering: .relaxed) == 0 else { continue }
            let (isKept, _) = slots[index].compareExchange(
                expected: 0,
                desired: address,
                ordering: .releasing
            )
            if isKept { return true }
        }
        return false
    }
}
