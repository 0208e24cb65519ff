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

    private let didWrite: @Sendable (Progress) -> Void
    private var queue = OutputQueue()
    private var endsWhenDrained = false

    /// The queue's state for other threads.
    private struct Account {
        var queuedBytes = 0
        var isEnded = false
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

    var queuedBytes: Int { account.withLock(\.queuedBytes) }

    /// Queues bytes.
    func write(_ bytes: [UInt8], limit: Int) throws(UVRunLoop.SystemError) {
        try account.withLock { account throws(UVRunLoop.SystemError) in
            guard !account.isEnded else { throw UVRunLoop.SystemError(.write, .invalidated) }
            guard account.queuedBytes <= limit else {
                throw UVRunLoop.SystemError(.write, .queueOverflow)
            }
            account.queuedBytes += bytes.count
        }
        onThread { handle in (handle as? PipeWriter)?.enqueue(bytes) }
    }

    /// Closes the pipe when everything was written.
    func finish() {
        account.withLock { $0.isEnded = true }
        onThread { handle in (handle as? PipeWriter)?.closeWhenDrained() }
    }

    // MARK: The loop's thread

    private func enqueue(_ bytes: [UInt8]) {
        guard !isClosed, !bytes.isEmpty else { return }
        let isFirst = queue.isEmpty
        queue.append(bytes[...])
        if isFirst, flush() { announce() }
    }

    private func closeWhenDrained() {
        endsWhenDrained = true
        if queue.isEmpty { close() }
    }

    override func isReady() {
        if flush() { note() }
    }

    /// Writes what there is room for.
    ///
    /// - Returns: Whether that is an event.
    private func flush() -> Bool {
        while let first = queue.first(1).first {
            let length = write(first)
            guard length >= 0 else { return mayGoOn(after: length) ? false : fail(length) }
            account.withLock { $0.queuedBytes -= length }
            queue.didSend(length)
        }
        try? watch(0)
        didWrite(.drained)
        if endsWhenDrained { close() }
        return true
    }

    private func write(_ bytes: ArraySlice<UInt8>) -> Int {
        unsafe bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return unsafe cuv_write(descriptor, start, buffer.count)
        }
    }

    /// Whether there will be room later, and libuv tells when.
    private func mayGoOn(after status: Int) -> Bool {
        guard status == -Int(EAGAIN) else { return false }
        do {
            try watch(CInt(UV_WRITABLE.rawValue))
            return true
        } catch {
            return false
        }
    }

    private func fail(_ status: Int) -> Bool {
        let error = UVRunLoop.SystemError(.write, UVError(rawValue: CInt(status)))
        close()
        didWrite(.failed(error))
        return true
    }

    override func end() {
        queue = OutputQueue()
        account.withLock { account in
            account.queuedBytes = 0
            account.isEnded = true
        }
        super.end()
    }
}
