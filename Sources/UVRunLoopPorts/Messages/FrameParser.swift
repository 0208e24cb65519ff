/// Makes frames of the bytes of one connection, however they are cut.
///
/// Every byte is looked at once and copied at most a bounded number of times, also when they come
/// one by one. The lengths that a header claims are checked first, and even then memory grows only
/// with what has really come.
struct FrameParser: Sendable {
    private let side: FrameSide
    private let maximumPayload: Int
    /// The header of the frame that is being received.
    private var header: FrameHeader?
    /// The bytes of a header that has not come whole.
    private var partOfHeader: [UInt8] = []
    private var name: [UInt8] = []
    private var payload: [UInt8] = []

    init(side: FrameSide, maximumPayload: Int) {
        self.side = side
        self.maximumPayload = maximumPayload
    }

    /// Whether a frame has begun and not ended.
    var isInsideFrame: Bool { header != nil || !partOfHeader.isEmpty }

    /// How many bytes are kept until the frame is whole.
    var keptByteCount: Int { partOfHeader.count + name.count + payload.count }

    /// How many bytes there is memory for.
    var keptCapacity: Int { partOfHeader.capacity + name.capacity + payload.capacity }

    /// Takes bytes off the front of the input until a frame is whole.
    ///
    /// After an error nothing that follows can be understood: the connection is to be dropped.
    ///
    /// - Parameter input: What has come; without what was used afterwards.
    /// - Returns: The frame, or `nil` when all of the input was used and the frame goes on.
    /// - Throws: What is wrong with the frame, as soon as its header is there.
    mutating func next(from input: inout ArraySlice<UInt8>) throws(FrameError) -> Frame? {
        var position = 0
        defer { input = input.dropFirst(position) }
        return try input.lendBytes { bytes throws(FrameError) in
            try next(in: bytes, from: &position)
        }
    }

    /// The same for bytes that stay where they are.
    ///
    /// - Parameters:
    ///   - bytes: What has come.
    ///   - position: How many of them were used.
    /// - Returns: The frame, or `nil` when all of the bytes were used and the frame goes on.
    /// - Throws: What is wrong with the frame, as soon as its header is there.
    mutating func next(
        in bytes: RawSpan,
        from position: inout Int
    ) throws(FrameError) -> Frame? {
        guard position < bytes.byteCount else { return nil }
        if header == nil { header = try takeHeader(in: bytes, from: &position) }
        guard let header else { return nil }
        if name.isEmpty, payload.isEmpty, bytes.byteCount - position >= header.bodyLength {
            return takeBody(of: header, in: bytes, from: &position)
        }
        guard take(Int(header.nameLength), in: bytes, from: &position, to: &name),
            take(Int(header.payloadLength), in: bytes, from: &position, to: &payload)
        else { return nil }
        self.header = nil
        return Frame(header, name: exchange(&name, with: []), exchange(&payload, with: []))
    }

    /// The same for a body that is there in one piece, as it is nearly always.
    private mutating func takeBody(
        of header: FrameHeader,
        in bytes: RawSpan,
        from position: inout Int
    ) -> Frame {
        self.header = nil
        let nameEnd = position + Int(header.nameLength)
        let end = position + header.bodyLength
        defer { position = end }
        return Frame(header, name: bytes.copy(position..<nameEnd), bytes.copy(nameEnd..<end))
    }

    /// To be called when the peer sends no more.
    func end() throws(FrameError) {
        if isInsideFrame { throw .truncated }
    }

    private mutating func takeHeader(
        in bytes: RawSpan,
        from position: inout Int
    ) throws(FrameError) -> FrameHeader? {
        if partOfHeader.isEmpty, bytes.byteCount - position >= FrameHeader.size {
            let header = try FrameHeader(
                words: bytes.words(at: position),
                side: side,
                maximumPayload: maximumPayload
            )
            position += FrameHeader.size
            return header
        }
        guard take(FrameHeader.size, in: bytes, from: &position, to: &partOfHeader) else {
            return nil
        }
        let words = partOfHeader[...].lendBytes { $0.words(at: 0) }
        partOfHeader = []
        return try FrameHeader(words: words, side: side, maximumPayload: maximumPayload)
    }

    /// Moves bytes until the part has its full length; answers whether it has.
    private func take(
        _ length: Int,
        in bytes: RawSpan,
        from position: inout Int,
        to part: inout [UInt8]
    ) -> Bool {
        let end = position + min(length - part.count, bytes.byteCount - position)
        bytes.append(position..<end, to: &part)
        position = end
        return part.count == length
    }
}

extension Frame {
    fileprivate init(_ header: FrameHeader, name: [UInt8], _ payload: [UInt8]) {
        kind = header.kind
        id = header.id
        number = header.number
        replyName = name
        let isWithoutData = kind == .refusal || (kind == .reply && !header.hasData)
        data = isWithoutData ? nil : payload
    }
}
