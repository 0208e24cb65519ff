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
        bytes.append(littleEndian: Self.magic)
        bytes.append(Self.version)
        bytes.append(kind.rawValue)
        bytes.append(hasData ? Self.hasDataFlag : 0)
        bytes.append(nameLength)
        bytes.append(littleEndian: id)
        bytes.append(littleEndian: payloadLength)
        bytes.append(littleEndian: number)
    }

    /// Reads a header from the first 24 bytes of a slice, and believes nothing of it unchecked.
    init(
        _ bytes: ArraySlice<UInt8>,
        side: FrameSide,
        maximumPayload: Int
    ) throws(FrameError) {
        guard bytes.number(at: 0, as: UInt32.self) == Self.magic else { throw .badMagic }
        let start = bytes.startIndex
        let version = bytes[start + 4]
        guard version == Self.version else { throw .unknownVersion(version) }
        guard let kind = FrameKind(rawValue: bytes[start + 5]) else {
            throw .unknownKind(bytes[start + 5])
        }
        guard side.mayReceive(kind) else { throw .unexpectedKind(kind) }
        let flags = bytes[start + 6]
        guard flags & ~Self.hasDataFlag == 0 else { throw .badFields }
        self.kind = kind
        hasData = flags & Self.hasDataFlag != 0
        nameLength = bytes[start + 7]
        id = bytes.number(at: 8, as: Int32.self)
        payloadLength = bytes.number(at: 12, as: UInt32.self)
        number = bytes.number(at: 16, as: UInt64.self)
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

extension [UInt8] {
    fileprivate mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

extension ArraySlice<UInt8> {
    /// The little-endian number that begins so many bytes after the start.
    fileprivate func number<Number: FixedWidthInteger>(
        at offset: Int,
        as type: Number.Type
    ) -> Number {
        var number: Number = 0
        for index in 0..<Number.bitWidth / 8 {
            number |= Number(truncatingIfNeeded: self[startIndex + offset + index]) << (8 * index)
        }
        return number
    }
}
