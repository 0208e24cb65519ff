/// Parses the frames of one connection from a stream of bytes, however it is split.
///
/// Each byte is examined once and copied a bounded number of times, even if bytes arrive one at a
/// time. Lengths are validated before memory is allocated, and memory grows only with the bytes
/// received.
struct FrameParser: Sendable {
    private let side: FrameSide
    private let maximumPayload: Int
    /// The header of the current frame.
    private var header: FrameHeader?
    /// The bytes of an incomplete header.
    private var partOfHeader: [UInt8] = []
    private var name: [UInt8] = []
    private var payload: [UInt8] = []

    init(side: FrameSide, maximumPayload: Int) {
        self.side = side
        self.maximumPayload = maximumPayload
    }

    /// Whether a frame is incomplete.
    var isInsideFrame: Bool { header != nil || !partOfHeader.isEmpty }

    /// The number of bytes kept of an incomplete frame.
    var keptByteCount: Int { partOfHeader.count + name.count + payload.count }

    /// The allocated capacity in bytes.
    var keptCapacity: Int { partOfHeader.capacity + name.capacity + payload.capacity }

    /// Consumes input until a frame is complete.
    ///
    /// After an error the stream cannot be parsed further: drop the connection.
    ///
    /// - Parameter input: The received bytes; consumed bytes are removed.
    /// - Returns: The frame, or `nil` if the input ends inside it.
    /// - Throws: The violation: of the header as soon as that is complete, of the name at the end
    ///   of the frame.
    mutating func next(from input: inout ArraySlice<UInt8>) throws(FrameError) -> Frame? {
        var position = 0
        defer { input = input.dropFirst(position) }
        return try input.lendBytes { bytes throws(FrameError) in
            try next(in: bytes, from: &position)
        }
    }

    /// Consumes bytes in place, without copying the rest.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes.
    ///   - position: The offset of the first byte that is not consumed.
    /// - Returns: The frame, or `nil` if the bytes end inside it.
    /// - Throws: The violation: of the header as soon as that is complete, of the name at the end
    ///   of the frame.
    mutating func next(
        in bytes: RawSpan,
        from position: inout Int
    ) throws(FrameError) -> Frame? {
        guard position < bytes.byteCount else { return nil }
        if header == nil { header = try takeHeader(in: bytes, from: &position) }
        guard let header else { return nil }
        if name.isEmpty, payload.isEmpty, bytes.byteCount - position >= header.bodyLength {
            return try takeBody(of: header, in: bytes, from: &position)
        }
        guard take(Int(header.nameLength), in: bytes, from: &position, to: &name),
            take(Int(header.payloadLength), in: bytes, from: &position, to: &payload)
        else { return nil }
        self.header = nil
        return try Frame(header, name: exchange(&name, with: []), exchange(&payload, with: []))
    }

    /// Takes a body that is contiguous, which is the usual case.
    private mutating func takeBody(
        of header: FrameHeader,
        in bytes: RawSpan,
        from position: inout Int
    ) throws(FrameError) -> Frame {
        self.header = nil
        let nameEnd = position + Int(header.nameLength)
        let end = position + header.bodyLength
        defer { position = end }
        return try Frame(header, name: bytes.copy(position..<nameEnd), bytes.copy(nameEnd..<end))
    }

    /// Called at the end of the stream.
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

    /// Copies bytes until `part` has its full length.
    ///
    /// - Returns: Whether it has.
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
    fileprivate init(
        _ header: FrameHeader,
        name: [UInt8],
        _ payload: [UInt8]
    ) throws(FrameError) {
        guard name.isEmpty || Self.isName(name) else { throw .badName }
        kind = header.kind
        id = header.id
        number = header.number
        replyName = name
        let isWithoutData = kind == .refusal || (kind == .reply && !header.hasData)
        data = isWithoutData ? nil : payload
    }

    private static func isName(_ bytes: [UInt8]) -> Bool {
        do {
            _ = try UTF8Span(validating: bytes.span)
            return !bytes.contains(0)
        } catch {
            return false
        }
    }
}
