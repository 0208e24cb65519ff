import Testing

@testable import KeyValue

@Suite(.timeLimit(.minutes(15))) struct GlobPatternTests {
    @Test(arguments: [
        ("*", ""), ("*", "anything"), ("h?llo", "hello"), ("h*llo", "hllo"), ("h*llo", "heeello"),
        ("h[ae]llo", "hallo"), ("h[^e]llo", "hbllo"), ("h[a-c]llo", "hbllo"),
        ("h[c-a]llo", "hbllo"), ("a\\*b", "a*b"), ("*a*b*c", "xxaxxbxxc"), ("a**b", "ab"),
        ("[\\]]", "]"), ("[ab", "a"), ("a\\", "a\\"), ("[a-]", "^"), ("", ""),
    ])
    func itMatches(pattern: String, text: String) {
        #expect(matches(pattern, text))
    }

    @Test(arguments: [
        ("?", ""), ("h?llo", "hllo"), ("h[^e]llo", "hello"), ("a\\*b", "axb"), ("a*", "ba"),
        ("*a", "ab"), ("", "a"), ("[]", "]"), ("[a-c]", "d"), ("a", "ab"),
    ])
    func itDoesNotMatch(pattern: String, text: String) {
        #expect(!matches(pattern, text))
    }

    @Test func manyStarsTakeNoTimeToSpeakOf() {
        let pattern = String(repeating: "a*", count: 200) + "b"
        #expect(!matches(pattern, String(repeating: "a", count: 20_000)))
    }

    @Test func aMatchIsGivenUpWhenItTakesTooManySteps() {
        let pattern = "*" + String(repeating: "a", count: 10_000) + "b"
        let text = String(repeating: "a", count: 20_000)
        var budget = GlobPattern.Budget()
        #expect(!GlobPattern(bytes(pattern)).matches(Array(text.utf8), within: &budget))
        #expect(budget.isSpent)
    }

    /// The number of keys does not matter.
    @Test func ordinaryPatternsAreNeverGivenUp() {
        for pattern in ["user:*", "*:name", "*e?:[a-n]*", "nobody"] {
            var budget = GlobPattern.Budget()
            let before = budget.steps
            for number in 0..<1000 {
                let key = Array("user:\(number):name".utf8)
                _ = GlobPattern(bytes(pattern)).matches(key, within: &budget)
            }
            #expect(budget.steps >= before)
        }
    }

    private func matches(_ pattern: String, _ text: String) -> Bool {
        var budget = GlobPattern.Budget()
        let matches = GlobPattern(bytes(pattern)).matches(Array(text.utf8), within: &budget)
        #expect(!budget.isSpent)
        return matches
    }
}
