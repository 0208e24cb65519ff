import Testing

@testable import KeyValue

@Suite(.timeLimit(.minutes(5))) struct GlobPatternTests {
    @Test(arguments: [
        ("*", ""), ("*", "anything"), ("h?llo", "hello"), ("h*llo", "hllo"), ("h*llo", "heeello"),
        ("h[ae]llo", "hallo"), ("h[^e]llo", "hbllo"), ("h[a-c]llo", "hbllo"),
        ("h[c-a]llo", "hbllo"), ("a\\*b", "a*b"), ("*a*b*c", "xxaxxbxxc"), ("a**b", "ab"),
        ("[\\]]", "]"), ("[ab", "a"), ("a\\", "a\\"), ("[a-]", "^"), ("", ""),
    ])
    func itMatches(pattern: String, text: String) {
        #expect(GlobPattern(bytes(pattern)).matches(Array(text.utf8)))
    }

    @Test(arguments: [
        ("?", ""), ("h?llo", "hllo"), ("h[^e]llo", "hello"), ("a\\*b", "axb"), ("a*", "ba"),
        ("*a", "ab"), ("", "a"), ("[]", "]"), ("[a-c]", "d"), ("a", "ab"),
    ])
    func itDoesNotMatch(pattern: String, text: String) {
        #expect(!GlobPattern(bytes(pattern)).matches(Array(text.utf8)))
    }

    @Test func manyStarsTakeNoTimeToSpeakOf() {
        let pattern = String(repeating: "a*", count: 200) + "b"
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: 20_000)
        #expect(!GlobPattern(bytes(pattern)).matches(text))
    }
}
