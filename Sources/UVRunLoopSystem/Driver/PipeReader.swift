import CUV
internal import UVLibc
import UVRunLoop

/// The reading end of a pipe.
///
/// It stops reading while enough of what it has read waits.
@safe
final class PipeReader: PolledDescriptor, @unchecked Sendable {
    /// The result of one read.
    enum Chunk {
        case bytes([UInt8])
        case ended
        /// Nothing more can be read.
        case failed(UVError)
    }

    private static let chunkSize = 65_536
    private let didRead: @Sendable (Chunk) -> Void
    private let hasRoom: @Sendable () -> Bool

    /// Takes over a descriptor and starts to read.
    ///
    /// - Parameters:
    ///   - site: The loop.
    ///   - descriptor: The descriptor, which is closed if this throws.
    ///   - hasRoom: Whether more is to be read.
    ///   - didRead: Called inside libuv with what was read.
    /// - Throws: The error of the system.
    init(
        _ site: LoopSite,
        owning descriptor: consuming Descriptor,
        while hasRoom: @escaping @Sendable () -> Bool,
        didRead: @escaping @Sendable (Chunk) -> Void
    ) throws(UVError) {
        self.didRead = didRead
        self.hasRoom = hasRoom
        try super.init(site, owning: descriptor)
        do {
            try watch(CInt(UV_READABLE.rawValue))
        } catch {
            close()
            throw error
        }
    }

    override func isReady() {
        let (bytes, length) = readBytes(of: descriptor, upTo: Self.chunkSize)
        guard length != -Int(EAGAIN) else { return }
        guard length > 0 else {
            finish(length == 0 ? .ended : .failed(UVError(rawValue: CInt(length))))
            return note()
        }
        didRead(.bytes(bytes))
        note()
        if !hasRoom() { try? watch(0) }
    }

    private func finish(_ end: Chunk) {
        didRead(end)
        close()
    }

    override func eventWasTaken() {
        guard hasRoom() else { return }
        do {
            try watch(CInt(UV_READABLE.rawValue))
        } catch {
            finish(.failed(error))
            announce()
        }
    }
}
