import TestSupport

@testable import UVRunLoopPorts

extension FrameKind {
    /// The side that may receive it.
    var receiver: FrameSide { FrameSide.local.mayReceive(self) ? .local : .remote }
}

extension Frame {
    /// One of each kind, with and without each part.
    static let samples: [Frame] = [
        .message(0, []), .message(-1, [1, 2, 3], replyName: Array("some port".utf8)),
        .message(.max, [UInt8](repeating: 7, count: 5000)),
        .request(1, 42, [1, 2, 3]), .request(.max, .min, [], replyName: Array("x".utf8)),
        .reply(1, nil), .reply(2, []), .reply(3, [4, 5, 6]),
        .refusal(.messageTooLarge, of: 9), .refusal(.peerNotPermitted),
    ]
}

/// Makes nearly valid inputs, splits them at random, and compares the parser with a simple one that
/// gets all bytes at once.
enum FrameFuzz {
    struct Report: Equatable {
        var frames = 0
        var errors = 0
        var failures: [String] = []
    }

    /// The result for one input.
    private struct Outcome: Equatable {
        var frames: [Frame] = []
        var error: FrameError?
    }

    private static let cap = 300

    static func run(seed: UInt64, cases: Int) -> Report {
        var random = SeededGenerator(seed: seed)
        var report = Report()
        for number in 0..<cases {
            let side: FrameSide = Bool.random(using: &random) ? .local : .remote
            let input = makeInput(for: side, &random)
            let expected = parseWhole(input, side)
            let outcome = parseInPieces(input, side, &random, &report, number)
            if outcome != expected, report.failures.count < 10 {
                report.failures.append("case \(number): \(outcome), not \(expected): \(input)")
            }
            report.frames += expected.frames.count
            report.errors += expected.error == nil ? 0 : 1
        }
        return report
    }

    // MARK: Inputs

    private static func makeInput(for side: FrameSide, _ random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            bytes += makeFrame(for: side, &random).head()
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2: break
        case 3: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
        case 4: bytes += (0..<Int.random(in: 1...60, using: &random)).map { _ in random.byte() }
        case 5: swapLength(of: &bytes, &random)
        default: damage(&bytes, &random)
        }
        return bytes
    }

    private static func makeFrame(for side: FrameSide, _ random: inout SeededGenerator) -> Frame {
        let length = [0, 1, 23, 24, 25, cap - 1, cap, cap + 1].randomElement(using: &random) ?? 0
        let data = (0..<length).map { _ in random.byte() }
        let isName = Int.random(in: 0..<8, using: &random) > 0
        let name = (0..<([0, 0, 0, 1, 255].randomElement(using: &random) ?? 0)).map { _ in
            isName ? UInt8.random(in: 1..<128, using: &random) : random.byte()
        }
        let number = random.next() | 1
        let id = Int32(truncatingIfNeeded: random.next())
        // Occasionally a kind that this side must not be sent.
        let mine = Int.random(in: 0..<20, using: &random) > 0
        let isOdd = Bool.random(using: &random)
        if mine == (side == .local) {
            return isOdd
                ? .message(id, data, replyName: name) : .request(number, id, data, replyName: name)
        }
        let hasData = Int.random(in: 0..<3, using: &random) > 0
        return isOdd ? .reply(number, hasData ? data : nil) : .refusal(.messageTooLarge, of: number)
    }

    /// Corrupts the length of the first frame.
    private static func swapLength(of bytes: inout [UInt8], _ random: inout SeededGenerator) {
        guard bytes.count >= FrameHeader.size else { return }
        let lengths: [UInt32] = [0, 1, 299, 300, 301, 1 << 16, 1 << 31, .max]
        let length = lengths.randomElement(using: &random) ?? 0
        for index in 0..<4 { bytes[12 + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
    }

    private static func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes.remove(at: index)
            default: bytes.insert(random.byte(), at: index)
            }
        }
    }

    // MARK: Two parsers

    private static func parseInPieces(
        _ bytes: [UInt8],
        _ side: FrameSide,
        _ random: inout SeededGenerator,
        _ report: inout Report,
        _ number: Int
    ) -> Outcome {
        var parser = FrameParser(side: side, maximumPayload: cap)
        var outcome = Outcome()
        var rest = bytes[...]
        let longest = [1, 2, 30, 1000].randomElement(using: &random) ?? 1
        do throws(FrameError) {
            while !rest.isEmpty {
                var piece = rest.prefix(Int.random(in: 1...longest, using: &random))
                rest = rest.dropFirst(piece.count)
                while let frame = try parser.next(from: &piece) { outcome.frames.append(frame) }
                let most = 2 * (bytes.count - rest.count) + 200
                if !piece.isEmpty || parser.keptCapacity > most {
                    report.failures.append("case \(number): keeps \(parser.keptCapacity) bytes")
                }
            }
            try parser.end()
        } catch {
            outcome.error = error
        }
        return outcome
    }

    /// A second implementation of the rules, for complete input.
    private static func parseWhole(_ bytes: [UInt8], _ side: FrameSide) -> Outcome {
        var outcome = Outcome()
        var start = 0
        while start < bytes.count, outcome.error == nil {
            guard bytes.count - start >= 24 else {
                outcome.error = .truncated
                return outcome
            }
            let header = Array(bytes[start..<start + 24])
            outcome.error = fault(of: header, side)
            guard outcome.error == nil else { return outcome }
            let nameEnd = start + 24 + Int(header[7])
            let end = nameEnd + Int(value(header, 12, 4))
            guard end <= bytes.count else {
                outcome.error = .truncated
                return outcome
            }
            let name = Array(bytes[start + 24..<nameEnd])
            guard !name.contains(0), Array(String(decoding: name, as: UTF8.self).utf8) == name
            else {
                outcome.error = .badName
                return outcome
            }
            let hasNoData = header[5] == 4 || (header[5] == 3 && header[6] == 0)
            outcome.frames.append(
                Frame(
                    kind: FrameKind(rawValue: header[5]) ?? .message,
                    id: Int32(truncatingIfNeeded: value(header, 8, 4)),
                    number: value(header, 16, 8),
                    replyName: name,
                    data: hasNoData ? nil : Array(bytes[nameEnd..<end])
                )
            )
            start = end
        }
        return outcome
    }

    private static func fault(of header: [UInt8], _ side: FrameSide) -> FrameError? {
        let (kind, flags, name) = (header[5], header[6], header[7])
        let (id, length) = (value(header, 8, 4), value(header, 12, 4))
        let number = value(header, 16, 8)
        if header[0..<4] != [0x55, 0x56, 0x4D, 0x50] { return .badMagic }
        if header[4] != 1 { return .unknownVersion(header[4]) }
        guard let known = FrameKind(rawValue: kind) else { return .unknownKind(kind) }
        if (kind <= 2) != (side == .local) { return .unexpectedKind(known) }
        let isSound =
            switch kind {
            case 1: flags == 0 && number == 0
            case 2: flags == 0 && number != 0
            case 3: flags <= 1 && number != 0 && name == 0 && id == 0 && (flags == 1 || length == 0)
            default: flags == 0 && name == 0 && length == 0 && (1...5).contains(id)
            }
        if !isSound { return .badFields }
        return length > cap ? .payloadTooLarge(UInt32(length)) : nil
    }

    private static func value(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
        bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension FrameHeader {
    /// The bytes of a header, which need not be that of a whole frame.
    var encoded: [UInt8] { [UInt8](WordsAndPieces(words: words, pieces: ([], []))) }
}
