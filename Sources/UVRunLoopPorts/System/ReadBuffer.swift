import Synchronization
import UVRunLoop

/// The buffers into which ports read: as many as threads read at the same time, and not one for
/// each connection.
@safe
struct ReadBuffer: ~Copyable, Sendable {
    /// Room for what a fast peer sends in the time of one pass.
    static let size = 65536
    /// More are freed: a crowd of threads that read at once is the exception.
    private static let mostSpares = 16

    private let address: UInt

    /// The one that was given back last, or 0: with one thread that reads no lock is taken.
    private static let latest = Atomic<UInt>(0)
    private static let spares = Guarded<[UInt]>([])

    /// Lends a buffer; its contents are garbage before and after.
    static func lend<Result, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let buffer = ReadBuffer(address: takeSpare() ?? allocate())
        let raw = unsafe UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(bitPattern: buffer.address),
            count: size
        )
        return unsafe try body(raw)
    }

    private static func takeSpare() -> UInt? {
        let address = latest.exchange(0, ordering: .acquiring)
        return address != 0 ? address : spares.withLock { $0.popLast() }
    }

    deinit {
        let address = address
        let (isLatest, _) = Self.latest.compareExchange(
            expected: 0,
            desired: address,
            ordering: .releasing
        )
        if isLatest { return }
        let isKept = Self.spares.withLock { spares in
            guard spares.count < Self.mostSpares else { return false }
            spares.append(address)
            return true
        }
        if !isKept { unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
    }

    private static func allocate() -> UInt {
        UInt(
            bitPattern: UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        )
    }
}
