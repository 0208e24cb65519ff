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

    private static let spares = Guarded<[UInt]>([])

    /// Lends a buffer; its contents are garbage before and after.
    static func lend<Result, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let buffer = ReadBuffer(address: spares.withLock { $0.popLast() } ?? allocate())
        let raw = unsafe UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(bitPattern: buffer.address),
            count: size
        )
        return unsafe try body(raw)
    }

    deinit {
        let address = address
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
