import Testing
import UVRunLoop
import UVRunLoopTesting

/// The contents of a log, and their difference from what was expected.
@Suite(.timeLimit(.minutes(15))) struct EventLogTests {
    private let log = UVRunLoop.EventLog()

    private func note(_ entries: [String]) { for entry in entries { log.note(entry) } }

    @Test func entriesAreInOrder() {
        note(["a", "b", "a"])
        #expect(log.entries == ["a", "b", "a"])
        #expect(log.count == 3)
        log.clear()
        #expect(log.entries.isEmpty)
    }

    @Test func activitiesAreNotedByName() {
        UVRunLoop.withVirtualLoop { loop in
            log.observe(loop, as: "loop: ")
            loop.performLocally {}
            loop.run(for: .zero)
        }
        let expected = ["entry", "beforeTimers", "beforeSources", "exit"].map { "loop: " + $0 }
        #expect(log.difference(from: expected) == nil)
    }

    @Test func theLoopOfAnotherThreadMayBeObserved() throws {
        let thread = try UVRunLoop.Thread()
        log.observe(thread.runLoop, .exit)
        thread.stop()
        thread.join()
        #expect(Set(log.entries) == ["exit"])
    }

    @Test func equalListsHaveNoDifference() {
        #expect(log.difference(from: []) == nil)
        note(["a", "b"])
        #expect(log.difference(from: ["a", "b"]) == nil)
    }

    @Test func aDifferenceShowsEachLineAtItsPlace() throws {
        note(["entry", "timer A", "timer B", "exit"])
        let expected = ["entry", "timer A", "source", "exit", "entry"]
        let difference = try #require(log.difference(from: expected))
        #expect(difference.missing == ["source", "entry"])
        #expect(difference.unexpected == ["timer B"])
        #expect(
            difference.description == """
                2 missing (-), 1 unexpected (+)
                  entry
                  timer A
                - source
                + timer B
                  exit
                - entry
                """
        )
        #expect(String(describing: Optional(difference)).contains("- source\n+ timer B\n"))
    }

    @Test func anEmptyLogMissesEverything() throws {
        let difference = try #require(log.difference(from: ["a", "b"]))
        #expect(difference.description == "2 missing (-), 0 unexpected (+)\n- a\n- b")
    }

    @Test func everythingIsUnexpectedIfNothingIsExpected() throws {
        note(["a", "b"])
        let difference = try #require(log.difference(from: []))
        #expect(difference.description == "0 missing (-), 2 unexpected (+)\n+ a\n+ b")
    }

    @Test func equalLinesFarFromADifferenceAreCounted() throws {
        let expected = (1...20).map(String.init)
        note(expected.map { $0 == "10" ? "ten" : $0 })
        let difference = try #require(log.difference(from: expected))
        #expect(
            difference.description == """
                1 missing (-), 1 unexpected (+)
                  … 6 equal
                  7
                  8
                  9
                - 10
                + ten
                  11
                  12
                  13
                  … 7 equal
                """
        )
    }

    @Test func entriesThatChangedPlacesAreBoth() throws {
        note(["b", "a"])
        let difference = try #require(log.difference(from: ["a", "b"]))
        #expect(difference.missing == difference.unexpected)
        #expect(difference.missing.count == 1)
    }
}
