import UVRunLoop

/// Frames that wait until a socket accepts them.
///
/// Frames are sent whole and in order. A frame may be withdrawn until its first byte is sent; after
/// that, the other side expects the rest.
struct FrameQueue: Sendable {
    /// Identifies a queued frame; later ones are greater.
    struct ID: Hashable, Comparable, Sendable {
        fileprivate let number: UInt64

        static func < (one: ID, other: ID) -> Bool { one.number < other.number }

        /// The frames from this one up to another.
        func upTo(_ end: ID) -> some Sequence<ID> { (number..<end.number).lazy.map(ID.init) }
    }

    private struct Entry: Sendable {
        let id: ID
        /// The number of a request that it begins or answers; 0 for none.
        let request: UInt64
        /// The header, and the payload if it is small or else its beginning.
        var head: [UInt8]
        /// A large payload; the part that is in the head is not sent again.
        var payload: [UInt8]
        let payloadStart: Int
        /// The number of bytes sent.
        var sent = 0

        var count: Int { head.count + payload.count - payloadStart }
    }

    /// How much of a payload is sent together with its header.
    private static let copiedPayload = 65_536

    /// In the order of their IDs; those before ``first`` are sent, and empty.
    private var entries: [Entry] = []
    private var first = 0
    private var lastID: UInt64 = 0

    var isEmpty: Bool { first == entries.count }

    /// The frame that is sent next, or will be when one is queued: those before are not queued.
    var next: ID { isEmpty ? ID(number: lastID + 1) : entries[first].id }

    /// The number of bytes kept: a whole frame until its last byte is sent.
    var keptByteCount: Int { entries[first...].reduce(0) { $0 + $1.head.count + $1.payload.count } }

    /// Queues a frame, and sends until the queue is empty or the socket is full.
    ///
    /// - Returns: The queued frame; `nil` if it was sent completely.
    mutating func send(
        _ frame: Frame,
        to socket: borrowing Descriptor
    ) throws(UVError) -> ID? {
        let head = frame.beginning(withPayload: Self.copiedPayload)
        // The socket usually accepts the whole frame, which is then not queued.
        let sent = isEmpty ? try socket.send(head) ?? 0 : 0
        let payload = frame.data ?? []
        let isSmall = payload.count <= Self.copiedPayload
        if isSmall, sent == head.count { return nil }
        let id = append(frame.number, [UInt8](head), payload, sent: sent)
        if !isSmall, sent == head.count { _ = try flush(to: socket) }
        return contains(id) ? id : nil
    }

    private mutating func append(
        _ request: UInt64,
        _ head: [UInt8],
        _ payload: [UInt8],
        sent: Int
    ) -> ID {
        lastID += 1
        let id = ID(number: lastID)
        let isSmall = payload.count <= Self.copiedPayload
        let entry = Entry(
            id: id,
            request: request,
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
        while !isEmpty {
            let entry = entries[first]
            let isHead = entry.sent < entry.head.count
            let start = isHead ? entry.sent : entry.sent - entry.head.count + entry.payloadStart
            let bytes = isHead ? entry.head : entry.payload
            guard let count = try socket.send(bytes[start...]) else { return progressed }
            progressed = true
            if entry.sent + count == entry.count {
                removeFirst()
            } else {
                entries[first].sent += count
            }
        }
        return progressed
    }

    /// Removes the first frame; there may be thousands behind it, which are moved seldom.
    private mutating func removeFirst() {
        (entries[first].head, entries[first].payload) = ([], [])
        first += 1
        guard first >= entries.count / 2 else { return }
        entries.removeFirst(first)
        first = 0
    }

    func contains(_ id: ID) -> Bool { index(of: id) != nil }

    private func index(of id: ID) -> Int? {
        let index = (first..<entries.count).lowestIndex { entries[$0].id >= id }
        return index < entries.count && entries[index].id == id ? index : nil
    }

    /// The number of the request that a queued frame begins or answers; `nil` if there is none.
    func request(of id: ID) -> UInt64? {
        index(of: id).map { entries[$0].request }.flatMap { $0 == 0 ? nil : $0 }
    }

    /// Whether a part of a frame was sent, but not all of it.
    func isPartlySent(_ id: ID) -> Bool { !isEmpty && next == id && entries[first].sent > 0 }

    /// Removes a frame.
    ///
    /// Returns `false` if a part of it was sent.
    mutating func withdraw(_ id: ID) -> Bool {
        guard let index = index(of: id), entries[index].sent == 0 else { return false }
        entries.remove(at: index)
        return true
    }

    /// Removes all frames; returns which.
    @discardableResult
    mutating func removeAll() -> [ID] {
        defer { first = 0 }
        return exchange(&entries, with: [])[first...].map(\.id)
    }
}
