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
        if header == nil { header = try takeHeader(from: &input) }
        guard let header else { return nil }
        if name.isEmpty, payload.isEmpty, input.count >= header.bodyLength {
            return takeBody(of: header, from: &input)
        }
        guard take(Int(header.nameLength), from: &input, to: &name),
            take(Int(header.payloadLength), from: &input, to: &payload)
        else { return nil }
        self.header = nil
        return Frame(header, name: exchange(&name, with: []), exchange(&payload, with: []))
    }

    /// The same for a body that is there in one piece, as it is nearly always.
    private mutating func takeBody(
        of header: FrameHeader,
        from input: inout ArraySlice<UInt8>
    ) -> Frame {
        self.header = nil
        let (nameLength, length) = (Int(header.nameLength), header.bodyLength)
        let name = nameLength > 0 ? input.copy(nameLength, at: 0) : []
        let payload = length > nameLength ? input.copy(length - nameLength, at: nameLength) : []
        input = input.dropFirst(length)
        return Frame(header, name: name, payload)
    }

    /// To be called when the peer sends no more.
    func end() throws(FrameError) {
        if isInsideFrame { throw .truncated }
    }

    private mutating func takeHeader(
        from input: inout ArraySlice<UInt8>
    ) throws(FrameError) -> FrameHeader? {
        if partOfHeader.isEmpty, input.count >= FrameHeader.size {
            let header = try FrameHeader(
                words: input.firstWords,
                side: side,
                maximumPayload: maximumPayload
            )
            input = input.dropFirst(FrameHeader.size)
            return header
        }
        guard take(FrameHeader.size, from: &input, to: &partOfHeader) else { return nil }
        let words = partOfHeader[...].firstWords
        partOfHeader = []
        return try FrameHeader(words: words, side: side, maximumPayload: maximumPayload)
    }

    /// Moves bytes until the part has its full length; answers whether it has.
    private func take(
        _ length: Int,
        from input: inout ArraySlice<UInt8>,
        to part: inout [UInt8]
    ) -> Bool {
        let missing = length - part.count
        guard missing > 0 else { return true }
        let piece = input.prefix(missing)
        part.append(contentsOf: piece)
        input = input.dropFirst(piece.count)
        return piece.count == missing
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
