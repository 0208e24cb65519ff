import CUV
import CUVSupport
internal import UVLibc
import UVRunLoop
import UVRunLoopPorts

/// The writing end of a pipe, with a queue.
@safe
final class PipeWriter: PolledDescriptor, @unchecked Sendable {
    /// How a write has gone on.
    enum Progress {
        /// Everything was written.
        case drained
        case failed(UVRunLoop.SystemError)
    }

    /// The most bytes that are written before the loop goes on with everything else.
    private static let mostAtATime = 1 << 18
    private let didWrite: @Sendable (Progress) -> Void

    private struct Account {
        var queue = OutputQueue()
        /// Whether the pipe is closed when everything was written.
        var isEnded = false
        /// Whether the loop's thread was asked to write.
        var isPosted = false
    }

    private let account = Guarded(Account())

    init(
        _ site: LoopSite,
        owning descriptor: consuming Descriptor,
        didWrite: @escaping @Sendable (Progress) -> Void
    ) throws(UVError) {
        self.didWrite = didWrite
        try super.init(site, owning: descriptor)
    }

    // MARK: Any thread

    var queuedBytes: Int { account.withLock(\.queue.count) }

    /// Queues bytes.
    func write(_ bytes: [UInt8], limit: Int) throws(UVRunLoop.SystemError) {
        loop.checkProcess()
        let mustPost = try account.withLock { account throws(UVRunLoop.SystemError) in
            guard !account.isEnded else { throw UVRunLoop.SystemError(.write, .invalidated) }
            guard account.queue.count <= limit else {
                throw UVRunLoop.SystemError(.write, .queueOverflow)
            }
            guard !bytes.isEmpty else { return false }
            account.queue.append(bytes[...])
            return !exchange(&account.isPosted, with: true)
        }
        if mustPost { onThread { handle in (handle as? PipeWriter)?.writePosted() } }
    }

    /// Closes the pipe when everything was written.
    func finish() {
        account.withLock { $0.isEnded = true }
        onThread { handle in (handle as? PipeWriter)?.closeIfDrained() }
    }

    // MARK: The loop's thread

    private func writePosted() {
        let isEmpty = account.withLock { account in
            account.isPosted = false
            return account.queue.isEmpty
        }
        if !isClosed, !isWatching, !isEmpty, flush() { announce() }
    }

    private func closeIfDrained() {
        if account.withLock({ $0.isEnded && $0.queue.isEmpty }) { close() }
    }

    override func isReady() {
        if flush() { note() }
    }

    /// Writes what there is room for, up to a limit: another thread may write as fast as the child
    /// reads.
    ///
    /// - Returns: Whether that is an event.
    private func flush() -> Bool {
        var rest = Self.mostAtATime
        while rest > 0, let first = account.withLock({ $0.queue.first(1).first }) {
            let length = write(first)
            guard length >= 0 else {
                return length == -Int(EAGAIN) ? awaitRoom() : fail(UVError(rawValue: CInt(length)))
            }
            _ = account.withLock { $0.queue.didSend(length) }
            rest -= length
        }
        guard account.withLock(\.queue.isEmpty) else { return awaitRoom() }
        try? watch(0)
        didWrite(.drained)
        closeIfDrained()
        return true
    }

    private func write(_ bytes: ArraySlice<UInt8>) -> Int {
        unsafe bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return unsafe cuv_write(descriptor, start, buffer.count)
        }
    }

    /// Has libuv tell when there is room.
    ///
    /// - Returns: Whether that is an event: it fails.
    private func awaitRoom() -> Bool {
        do {
            try watch(CInt(UV_WRITABLE.rawValue))
            return false
        } catch {
            return fail(error)
        }
    }

    private func fail(_ error: UVError) -> Bool {
        close()
        didWrite(.failed(UVRunLoop.SystemError(.write, error)))
        return true
    }

    override func end() {
        account.withLock { account in
            account.queue = OutputQueue()
            account.isEnded = true
        }
        super.end()
    }
}
