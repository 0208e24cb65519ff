import UVRunLoop

/// Frames on their way into a socket that takes what it has room for.
///
/// Frames go out whole and in order. One that has not begun may be withdrawn; of one that has, the
/// other side would miss the rest.
struct FrameQueue: Sendable {
    /// Names a frame in the box.
    struct ID: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct Entry: Sendable {
        let id: ID
        /// The header and as much of the payload as is worth copying.
        let head: [UInt8]
        /// The payload; what the head holds of it is not sent again.
        let payload: [UInt8]
        let payloadStart: Int
        /// How many bytes have gone out.
        var sent = 0

        var count: Int { head.count + payload.count - payloadStart }
    }

    /// How much of a payload goes out in one piece with its header.
    private static let copiedPayload = 65_536

    private var entries: [Entry] = []
    private var lastID: UInt64 = 0

    var isEmpty: Bool { entries.isEmpty }

    /// How many bytes are kept: all of a frame until the last of it has gone out.
    var keptByteCount: Int { entries.reduce(0) { $0 + $1.head.count + $1.payload.count } }

    /// Puts a frame in, and sends until the box is empty or the socket is full.
    ///
    /// - Returns: What names the frame in the box; `nil` when all of it went out.
    mutating func send(
        _ frame: Frame,
        to socket: borrowing Descriptor
    ) throws(UVError) -> ID? {
        let head = frame.beginning(withPayload: Self.copiedPayload)
        // As a rule there is room, and the frame needs no place in the box.
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

    /// Sends until the box is empty or the socket is full.
    ///
    /// - Returns: Whether anything went out.
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

    /// Takes a frame back; answers `false` when a part of it has gone out.
    mutating func withdraw(_ id: ID) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
        guard entries[index].sent == 0 else { return false }
        entries.remove(at: index)
        return true
    }

    mutating func removeAll() { entries = [] }
}
