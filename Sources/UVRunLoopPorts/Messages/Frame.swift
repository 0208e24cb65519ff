/// One complete frame.
struct Frame: Hashable, Sendable {
    var kind: FrameKind
    /// A message's id, or a refusal's reason.
    var id: Int32 = 0
    /// The number of a request in its connection; 0 for none.
    var number: UInt64 = 0
    /// The UTF-8 name of the sender's port for replies; empty for none.
    var replyName: [UInt8] = []
    /// `nil` only in a reply that has no data, and in a refusal.
    var data: [UInt8]?

    static func message(_ id: Int32, _ data: [UInt8], replyName: [UInt8] = []) -> Frame {
        Frame(kind: .message, id: id, replyName: replyName, data: data)
    }

    static func request(
        _ number: UInt64,
        _ id: Int32,
        _ data: [UInt8],
        replyName: [UInt8] = []
    ) -> Frame {
        Frame(kind: .request, id: id, number: number, replyName: replyName, data: data)
    }

    static func reply(_ number: UInt64, _ data: [UInt8]?) -> Frame {
        Frame(kind: .reply, number: number, data: data)
    }

    static func refusal(_ reason: RefusalReason, of number: UInt64 = 0) -> Frame {
        Frame(kind: .refusal, id: reason.rawValue, number: number)
    }

    /// The most bytes of data whose number the header can hold.
    static let largestPayload = Int(UInt32.max)

    var header: FrameHeader {
        FrameHeader(
            kind: kind,
            hasData: kind == .reply && data != nil,
            nameLength: UInt8(replyName.count),
            id: id,
            payloadLength: UInt32(data?.count ?? 0),
            number: number
        )
    }

    /// The encoded frame, up to a limit of its payload.
    ///
    /// Small frames are contiguous, so that one write and one read suffice. Of a large payload only
    /// the beginning is copied.
    func beginning(withPayload limit: Int) -> WordsAndPieces {
        let payload = data ?? []
        let start = payload.count <= limit ? payload[...] : payload[..<limit]
        return WordsAndPieces(words: header.words, pieces: (replyName[...], start))
    }

    /// The encoded frame.
    func head() -> [UInt8] { [UInt8](beginning(withPayload: .max)) }
}
