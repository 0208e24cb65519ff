import TestSupport
import Testing

@testable import KeyValue

@Suite(.timeLimit(.minutes(15))) struct RequestParserTests {
    @Test func wordsAreFoundWhateverTheyHold() throws {
        var parser = RequestParser()
        try parser.append(encoded(["SET", "a key\r\n", "", "\0$3\r\n*1"]))
        #expect(try allRequests(of: &parser) == [["SET", "a key\r\n", "", "\0$3\r\n*1"]])
        #expect(!parser.hasInput)
    }

    @Test func aPipelineIsTakenApart() throws {
        var parser = RequestParser()
        try parser.append(encoded(["GET", "a"]) + Array("PING\r\n".utf8) + encoded(["DEL", "b"]))
        #expect(try allRequests(of: &parser) == [["GET", "a"], ["PING"], ["DEL", "b"]])
    }

    @Test func anyCutGivesTheSameCommands() throws {
        let stream =
            encoded(["SET", "key", "value"]) + Array("\r\nECHO 'a b'\nPING\r\n".utf8)
            + Array("*0\r\n*-1\r\n".utf8) + encoded(["MGET", "", "x"])
        let expected = [["SET", "key", "value"], ["ECHO", "a b"], ["PING"], ["MGET", "", "x"]]
        for first in 0...stream.count {
            for second in stride(from: first, through: stream.count, by: 5) {
                var parser = RequestParser()
                var found: [[String]] = []
                for piece in [stream[..<first], stream[first..<second], stream[second...]] {
                    try parser.append(Array(piece))
                    found += try allRequests(of: &parser)
                }
                #expect(found == expected, "cut at \(first) and \(second)")
            }
        }
    }

    @Test func singleBytesGiveTheSameCommands() throws {
        var parser = RequestParser()
        var found: [[String]] = []
        for byte in encoded(["SET", "key", "value"]) + encoded(["GET", "key"]) {
            try parser.append([byte])
            found += try allRequests(of: &parser)
        }
        #expect(found == [["SET", "key", "value"], ["GET", "key"]])
    }

    @Test func commandsLeftForLaterSurviveMoreBytes() throws {
        var parser = RequestParser()
        try parser.append(
            encoded(["GET", "a"]) + encoded(["GET", "b"]) + Array("*2\r\n$3\r".utf8)
        )
        #expect(try parser.next()?.text(1) == "a")
        try parser.append(Array("\nGET\r\n$1\r\nc\r\n".utf8))
        #expect(try allRequests(of: &parser) == [["GET", "b"], ["GET", "c"]])
        #expect(!parser.hasInput)
    }

    @Test(arguments: [
        (#"set "a\x41\n\"" 'it\'s' b\c"#, ["set", "aA\n\"", "it's", "b\\c"]),
        (#"a"b c"  "" "#, ["ab c", ""]),
        ("  one\ttwo  ", ["one", "two"]),
        (#"'\n' "\q\x4""#, ["\\n", "qx4"]),
    ])
    func inlineWordsAreQuotedAsInAShell(line: String, words: [String]) throws {
        var parser = RequestParser()
        try parser.append(Array("\(line)\r\n".utf8))
        #expect(try allRequests(of: &parser) == [words])
    }

    @Test(arguments: [
        ("*x\r\n", ProtocolError.badWordCount),
        ("*1048577\r\n", .badWordCount),
        ("*99999999999999999999\r\n", .badWordCount),
        ("*01\r\n", .badWordCount),
        ("*1\r\n+3\r\n", .expectedWord(instead: UInt8(ascii: "+"))),
        ("*1\r\n$-1\r\n", .badWordLength),
        ("*1\r\n$536870913\r\n", .badWordLength),
        ("*1\r\n$ 1\r\n", .badWordLength),
        ("GET \"a\r\n", .unbalancedQuotes),
        ("GET \"a\"b\r\n", .unbalancedQuotes),
    ])
    func brokenCommandsAreRefused(text: String, error: ProtocolError) throws {
        var parser = RequestParser()
        try parser.append(Array(text.utf8))
        #expect(throws: error) { try parser.next() }
    }

    @Test func linesWithoutAnEndAreRefused() throws {
        var line = RequestParser()
        try line.append([UInt8](repeating: 65, count: 70_000))
        #expect(throws: ProtocolError.inlineTooLong) { try line.next() }

        var header = RequestParser()
        try header.append([UInt8](repeating: UInt8(ascii: "*"), count: 70_000))
        #expect(throws: ProtocolError.headerTooLong) { try header.next() }
    }

    @Test func oneUnfinishedCommandMayNotGrowForEver() throws {
        var parser = RequestParser(limits: .init(query: 100))
        try parser.append(Array("*1\r\n$1000\r\n".utf8))
        #expect(try parser.next() == nil)
        #expect(throws: ProtocolError.queryTooLong) {
            for _ in 0..<10 {
                try parser.append([UInt8](repeating: 1, count: 50))
                _ = try parser.next()
            }
        }
    }

    @Test func hostileBytesNeverTrapAndNeverDependOnTheCuts() {
        var random = SeededGenerator(seed: 7)
        let pieces = ["*", "$", "\r\n", "1", "3", "-1", "GET", "\"", "'", "\\x4", " ", "\0", "\n"]
        for _ in 0..<20_000 {
            let stream = (0..<Int.random(in: 1...14, using: &random)).flatMap { _ in
                Array((pieces.randomElement(using: &random) ?? "").utf8)
            }
            let whole = outcome(of: [stream[...]])
            let cut = Int.random(in: 0...stream.count, using: &random)
            #expect(outcome(of: [stream[..<cut], stream[cut...]]) == whole, "\(stream) at \(cut)")
            #expect(outcome(of: stream.map { [$0][...] }) == whole, "\(stream) byte by byte")
        }
    }

    /// The commands in some bytes, and the error that ended them.
    private func outcome(of pieces: [ArraySlice<UInt8>]) -> [[String]] {
        var parser = RequestParser()
        var found: [[String]] = []
        do {
            for piece in pieces {
                try parser.append(Array(piece))
                found += try allRequestsOrError(of: &parser, before: &found)
            }
        } catch {
            found.append(["\(error)"])
        }
        return found
    }

    /// As `allRequests`, but keeps the commands before an error.
    private func allRequestsOrError(
        of parser: inout RequestParser,
        before found: inout [[String]]
    ) throws -> [[String]] {
        while let request = try parser.next() {
            found.append((0..<request.count).map { request.text($0) })
        }
        return []
    }
}
