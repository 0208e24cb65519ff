// Scripts/fuzz compiles this file together with the parser's own, for libFuzzer.

/// The function that libFuzzer calls with every input: the bytes of one connection.
///
/// The first byte says which side receives and how the rest is cut into pieces. However it is cut,
/// the parser must make the same frames of it and the same error; frames written out again are the
/// bytes they came from; and no more memory may be taken than the bytes account for.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let side: FrameSide = first & 1 == 0 ? .local : .remote
    let bytes = Array(input.dropFirst())
    let whole = Conversation(bytes, side: side, pieceSize: max(1, bytes.count))
    let cut = Conversation(bytes, side: side, pieceSize: 1 + Int(first >> 1))
    guard whole == cut else { fatalError("The frames depend on how the bytes are cut.") }
    guard bytes.starts(with: whole.frames.flatMap { $0.head() }) else {
        fatalError("A frame is not what its bytes say.")
    }
    return 0
}

/// The frames and the error that the parser makes of a connection's bytes.
private struct Conversation: Equatable {
    private static let maximumPayload = 1_000

    private(set) var frames: [Frame] = []
    private var error: FrameError?

    init(_ bytes: [UInt8], side: FrameSide, pieceSize: Int) {
        var parser = FrameParser(side: side, maximumPayload: Self.maximumPayload)
        var rest = bytes[...]
        do throws(FrameError) {
            while !rest.isEmpty {
                var piece = rest.prefix(pieceSize)
                rest = rest.dropFirst(piece.count)
                while let frame = try parser.next(from: &piece) { frames.append(frame) }
                guard piece.isEmpty else { fatalError("Bytes are left over.") }
                guard parser.keptCapacity <= 2 * (bytes.count - rest.count) + 200 else {
                    fatalError("More memory is kept than bytes came.")
                }
            }
            try parser.end()
        } catch {
            self.error = error
        }
    }
}
