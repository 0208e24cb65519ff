import Testing

@testable import UVRunLoopPorts

/// Encoded frames, and frames that are refused.
@Suite(.timeLimit(.minutes(15))) struct FrameTests {
    @Test func aFrameHasTheDocumentedBytes() {
        let frame = Frame.request(0x0102, 0x0A0B_0C0D, [7, 8], replyName: [0x61])
        let bytes: [UInt8] = [
            0x55, 0x56, 0x4D, 0x50, 1, 2, 0, 1, 0x0D, 0x0C, 0x0B, 0x0A, 2, 0, 0, 0,
            2, 1, 0, 0, 0, 0, 0, 0, 0x61, 7, 8,
        ]
        #expect(frame.head() == bytes)
    }

    @Test(arguments: Frame.samples)
    func aFrameArrivesAsItWasSent(frame: Frame) throws {
        var input = frame.head()[...]
        var parser = FrameParser(side: frame.kind.receiver, maximumPayload: 1 << 20)
        #expect(try parser.next(from: &input) == frame)
        #expect(input.isEmpty)
        #expect(!parser.isInsideFrame)
    }

    @Test(arguments: Frame.samples)
    func aFrameThatComesByteByByteIsTheSameFrame(frame: Frame) throws {
        let bytes = frame.head()
        var parser = FrameParser(side: frame.kind.receiver, maximumPayload: 1 << 20)
        for (index, byte) in bytes.enumerated() {
            var input: ArraySlice<UInt8> = [byte]
            let result = try parser.next(from: &input)
            #expect(result == (index == bytes.count - 1 ? frame : nil))
        }
    }

    @Test(arguments: Frame.samples)
    func aFrameThatIsCutOffIsNeverDeliveredInPart(frame: Frame) throws {
        let bytes = frame.head()
        for length in 1..<bytes.count {
            var parser = FrameParser(side: frame.kind.receiver, maximumPayload: 1 << 20)
            var input = bytes[..<length]
            #expect(try parser.next(from: &input) == nil)
            #expect(throws: FrameError.truncated) { try parser.end() }
        }
    }

    @Test func severalFramesInOnePieceComeOneByOne() throws {
        let frames = (0..<5).map { Frame.message($0, [UInt8](repeating: 9, count: Int($0))) }
        var input = frames.flatMap { $0.head() }[...]
        var parser = FrameParser(side: .local, maximumPayload: 100)
        for frame in frames { #expect(try parser.next(from: &input) == frame) }
        #expect(try parser.next(from: &input) == nil)
        try parser.end()
    }

    @Test func anEmptyReplyIsNotThatOfNoData() throws {
        for data in [nil, []] as [[UInt8]?] {
            var input = Frame.reply(1, data).head()[...]
            var parser = FrameParser(side: .remote, maximumPayload: 100)
            #expect(try parser.next(from: &input)?.data == data)
        }
    }

    @Test(arguments: [
        (0, 0, FrameError.badMagic), (4, 2, .unknownVersion(2)), (5, 0, .unknownKind(0)),
        (5, 9, .unknownKind(9)), (5, 3, .unexpectedKind(.reply)),
        (5, 4, .unexpectedKind(.refusal)), (5, 2, .badFields), (6, 1, .badFields),
        (6, 128, .badFields), (16, 1, .badFields), (23, 1, .badFields),
        (13, 1, .payloadTooLarge(259)), (15, 255, .payloadTooLarge(0xFF00_0003)),
    ])
    func aHeaderThatBreaksARuleIsRefused(offset: Int, value: UInt8, error: FrameError) {
        var bytes = Frame.message(5, [1, 2, 3]).head()
        bytes[offset] = value
        var parser = FrameParser(side: .local, maximumPayload: 200)
        var input = bytes[...]
        #expect(throws: error) { try parser.next(from: &input) }
    }

    @Test(arguments: [
        (Frame.reply(1, nil), 12), (Frame.reply(1, []), 8), (Frame.reply(1, []), 7),
        (Frame.refusal(.messageTooLarge), 12), (Frame.refusal(.messageTooLarge), 6),
        (Frame.refusal(.messageTooLarge), 7), (Frame.refusal(.messageTooLarge), 9),
    ])
    func anAnswerWhoseFieldsDisagreeIsRefused(frame: Frame, offset: Int) {
        var bytes = frame.head()
        bytes[offset] = 1
        var parser = FrameParser(side: .remote, maximumPayload: 200)
        var input = bytes[...]
        #expect(throws: FrameError.badFields) { try parser.next(from: &input) }
    }

    @Test(
        arguments: [[0xFF, 0xFE], [0xC3], [0xED, 0xA0, 0x80], [0x61, 0, 0x62], [0]] as [[UInt8]]
    )
    func aNameThatNoPortCanHaveIsRefused(name: [UInt8]) {
        let bytes = Frame.message(1, [1, 2, 3], replyName: name).head()
        for size in [bytes.count, 1] {
            var parser = FrameParser(side: .local, maximumPayload: 200)
            #expect(throws: FrameError.badName) {
                for start in stride(from: 0, to: bytes.count, by: size) {
                    var piece = bytes[start..<start + size]
                    _ = try parser.next(from: &piece)
                }
            }
        }
    }

    @Test func aClaimedLengthTakesNoMemoryBeforeTheBytesAreThere() throws {
        var header = FrameHeader(kind: .message)
        header.payloadLength = 16 << 20
        var parser = FrameParser(side: .local, maximumPayload: 16 << 20)
        var input = (header.encoded + [1, 2, 3])[...]
        #expect(try parser.next(from: &input) == nil)
        #expect(parser.keptByteCount == 3)
        #expect(parser.keptCapacity < 1024)
    }

    @Test func theCapIsTheLastLengthThatIsTaken() throws {
        let frame = Frame.message(0, [UInt8](repeating: 1, count: 1000))
        for (cap, isTaken) in [(999, false), (1000, true)] {
            var parser = FrameParser(side: .local, maximumPayload: cap)
            var input = frame.head()[...]
            #expect((try? parser.next(from: &input)) == (isTaken ? frame : nil))
        }
    }
}
