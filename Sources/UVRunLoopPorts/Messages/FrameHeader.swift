/// What a frame is for.
enum FrameKind: UInt8, Sendable {
    /// A message that nobody waits for an answer to.
    case message = 1
    /// A message whose sender waits for a reply.
    case request = 2
    /// What a handler returned for a request.
    case reply = 3
    /// Why the other side will not serve a request, or the whole connection.
    case refusal = 4
}

/// Which end of a connection receives; each may be sent only some kinds of frames.
enum FrameSide: Sendable {
    /// The end that owns the name.
    case local
    /// The end that connected.
    case remote

    func mayReceive(_ kind: FrameKind) -> Bool {
        switch kind {
        case .message, .request: self == .local
        case .reply, .refusal: self == .remote
        }
    }
}

/// Why a side refuses; the message id of a refusal.
enum RefusalReason: Int32, Sendable {
    case messageTooLarge = 1
    case peerNotPermitted = 2
    case tooManyConnections = 3
    case malformedFrame = 4
    case noRoomLeft = 5
}

/// What is wrong with what a peer sent.
enum FrameError: Error, Hashable, Sendable {
    case badMagic
    case unknownVersion(UInt8)
    case unknownKind(UInt8)
    /// A kind that this side is never sent.
    case unexpectedKind(FrameKind)
    /// Bits or fields that this kind of frame does not have.
    case badFields
    case payloadTooLarge(UInt32)
    /// The peer went away inside a frame.
    case truncated
}

/// The fixed part at the start of every frame: 24 bytes, numbers in little-endian order.
///
/// The article on the message-port wire format says what each field means.
struct FrameHeader: Hashable, Sendable {
    /// How many bytes a header has on the wire.
    static let size = 24
    /// "UVMP".
    static let magic: UInt32 = 0x504D_5655
    static let version: UInt8 = 1
    /// The only flag: a reply has data, if only of no bytes.
    static let hasDataFlag: UInt8 = 1

    var kind: FrameKind
    var hasData = false
    /// How many bytes the name of the reply port has; 0 for none.
    var nameLength: UInt8 = 0
    var id: Int32 = 0
    var payloadLength: UInt32 = 0
    /// Tells the requests of a connection apart; 0 for none.
    var number: UInt64 = 0

    /// How many bytes follow the header.
    var bodyLength: Int { Int(nameLength) + Int(payloadLength) }
}

extension FrameHeader {
    /// Appends the header as it is on the wire.
    func encode(into bytes: inout [UInt8]) {
        bytes += [UInt8](WordsAndPieces(words: words, pieces: ([], [])))
    }

    /// The header as it is on the wire, in words.
    var words: (UInt64, UInt64, UInt64) {
        let flags: UInt32 = hasData ? UInt32(Self.hasDataFlag) : 0
        let kinds = UInt32(Self.version) | UInt32(kind.rawValue) << 8
        let second = kinds | flags << 16 | UInt32(nameLength) << 24
        return (
            UInt64(Self.magic) | UInt64(second) << 32,
            UInt64(UInt32(bitPattern: id)) | UInt64(payloadLength) << 32,
            number
        )
    }

    /// Reads a header from its words, and believes nothing of it unchecked.
    init(
        words: (UInt64, UInt64, UInt64),
        side: FrameSide,
        maximumPayload: Int
    ) throws(FrameError) {
        let (first, second, third) = words
        guard UInt32(truncatingIfNeeded: first) == Self.magic else { throw .badMagic }
        let version = UInt8(truncatingIfNeeded: first >> 32)
        guard version == Self.version else { throw .unknownVersion(version) }
        let code = UInt8(truncatingIfNeeded: first >> 40)
        guard let kind = FrameKind(rawValue: code) else { throw .unknownKind(code) }
        guard side.mayReceive(kind) else { throw .unexpectedKind(kind) }
        let flags = UInt8(truncatingIfNeeded: first >> 48)
        guard flags & ~Self.hasDataFlag == 0 else { throw .badFields }
        self.kind = kind
        hasData = flags & Self.hasDataFlag != 0
        nameLength = UInt8(truncatingIfNeeded: first >> 56)
        id = Int32(truncatingIfNeeded: second)
        payloadLength = UInt32(truncatingIfNeeded: second >> 32)
        number = third
        guard fieldsAgree else { throw .badFields }
        guard payloadLength <= maximumPayload else { throw .payloadTooLarge(payloadLength) }
    }

    /// Whether the fields are ones that this kind of frame may have.
    private var fieldsAgree: Bool {
        switch kind {
        case .message: !hasData && number == 0
        case .request: !hasData && number != 0
        case .reply: number != 0 && nameLength == 0 && id == 0 && (hasData || payloadLength == 0)
        case .refusal: !hasData && bodyLength == 0
        }
    }
}
