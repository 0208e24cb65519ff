import UVRunLoop

/// Frames that wait until a socket accepts them.
///
/// Frames are sent whole and in order. A frame may be withdrawn until its first byte is sent; after
/// that, the other side expects the rest.
struct FrameQueue: Sendable {
    /// Identifies a queued frame.
    struct ID: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct Entry: Sendable {
        let id: ID
        /// The header, and the payload if it is small or else its beginning.
        let head: [UInt8]
        /// A large payload; the part that is in the head is not sent again.
        let payload: [UInt8]
        let payloadStart: Int
        /// The number of bytes sent.
        var sent = 0

        var count: Int { head.count + payload.count - payloadStart }
    }

    /// How much of a payload is sent together with its header.
    private static let copiedPayload = 65_536

    private var entries: [Entry] = []
    private var lastID: UInt64 = 0

    var isEmpty: Bool { entries.isEmpty }

    /// The number of bytes kept: a whole frame until its last byte is sent.
    var keptByteCount: Int { entries.reduce(0) { $0 + $1.head.count + $1.payload.count } }

    /// Queues a frame, and sends until the queue is empty or the socket is full.
    ///
    /// - Returns: The queued frame; `nil` if it was sent completely.
    mutating func send(
        _ frame: Frame,
        to socket: borrowing Descriptor
    ) throws(UVError) -> ID? {
        let head = frame.beginning(withPayload: Self.copiedPayload)
        // The socket usually accepts the whole frame, which is then not queued.
        let sent = entries.isEmpty ? try socket.send(head) ?? 0 : 0
        let payload = frame.data ?? []
        let isSmall = payload.count <= Self.copiedPayload
        if isSmall, sent == head.count { return nil }
        let id = append([UInt8](head), payload, sent: sent)
        if !isSmall, sent == head.count { _ = try flush(to: socket) }
        return contains(id) ? id : nil
    }

    private mutating func append(_ head: [UInt8], _ payload: [UInt8], sent: Int) -> ID {
        lastID += 1
        let id = ID(number: lastID)
        let isSmall = payload.count <= Self.copiedPayload
        let entry = Entry(
            id: id,
            head: head,
            payload: isSmall ? [] : payload,
            payloadStart: isSmall ? 0 : Self.copiedPayload,
            sent: sent
        )
        entries.append(entry)
        return id
    }

    /// Sends until the queue is empty or the socket is full.
    ///
    /// - Returns: Whether any bytes were sent.
    mutating func flush(to socket: borrowing Descriptor) throws(UVError) -> Bool {
        var progressed = false
        while let entry = entries.first {
            let isHead = entry.sent < entry.head.count
            let start = isHead ? entry.sent : entry.sent - entry.head.count + entry.payloadStart
            let bytes = isHead ? entry.head : entry.payload
            guard let count = try socket.send(bytes[start...]) else { return progressed }
            progressed = true
            if entry.sent + count == entry.count {
                entries.removeFirst()
            } else {
                entries[0].sent += count
            }
        }
        return progressed
    }

    func contains(_ id: ID) -> Bool { entries.contains { $0.id == id } }

    /// Whether a part of a frame was sent, but not all of it.
    func isPartlySent(_ id: ID) -> Bool {
        entries.first.map { $0.id == id && $0.sent > 0 } ?? false
    }

    /// Removes a frame.
    ///
    /// Returns `false` if a part of it was sent.
    mutating func withdraw(_ id: ID) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
        guard entries[index].sent == 0 else { return false }
        entries.remove(at: index)
        return true
    }

    /// Removes all frames; returns which.
    @discardableResult
    mutating func removeAll() -> [ID] { exchange(&entries, with: []).map(\.id) }
}
