/// The kind of a frame.
enum FrameKind: UInt8, Sendable {
    /// A message without a reply.
    case message = 1
    /// A message whose sender waits for a reply.
    case request = 2
    /// The reply to a request, as the handler returned it.
    case reply = 3
    /// The reason why the other side refuses a request, or the connection.
    case refusal = 4
}

/// The receiving end of a connection, which determines the kinds that it may be sent.
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

/// The reason of a refusal, sent as its message id.
enum RefusalReason: Int32, Sendable {
    case messageTooLarge = 1
    case peerNotPermitted = 2
    case tooManyConnections = 3
    case malformedFrame = 4
    case noRoomLeft = 5
}

/// A violation of the protocol.
enum FrameError: Error, Hashable, Sendable {
    case badMagic
    case unknownVersion(UInt8)
    case unknownKind(UInt8)
    /// A kind that this side is never sent.
    case unexpectedKind(FrameKind)
    /// Bits or fields that are invalid for the kind.
    case badFields
    /// A name of a reply port that is not UTF-8, or has a zero byte.
    case badName
    case payloadTooLarge(UInt32)
    /// The connection ended inside a frame.
    case truncated
}

/// The fixed part at the start of every frame: 24 bytes, numbers in little-endian order.
///
/// The fields are specified in the article on the message-port wire format.
struct FrameHeader: Hashable, Sendable {
    /// The size of an encoded header in bytes.
    static let size = 24
    /// "UVMP".
    static let magic: UInt32 = 0x504D_5655
    static let version: UInt8 = 1
    /// The only flag: the reply has data, which may be empty.
    static let hasDataFlag: UInt8 = 1

    var kind: FrameKind
    var hasData = false
    /// The length of the reply port's name; 0 for none.
    var nameLength: UInt8 = 0
    var id: Int32 = 0
    var payloadLength: UInt32 = 0
    /// The number of a request in its connection; 0 for none.
    var number: UInt64 = 0

    /// The number of bytes after the header.
    var bodyLength: Int { Int(nameLength) + Int(payloadLength) }
}

extension FrameHeader {
    /// The encoded header, as three words.
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

    /// Decodes and validates a header.
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

    /// Whether the fields are valid for the kind.
    private var fieldsAgree: Bool {
        switch kind {
        case .message: !hasData && number == 0
        case .request: !hasData && number != 0
        case .reply: number != 0 && nameLength == 0 && id == 0 && (hasData || payloadLength == 0)
        case .refusal: !hasData && bodyLength == 0 && RefusalReason(rawValue: id) != nil
        }
    }
}
