import Testing

@testable import Guide

/// The command line.
@Suite(.timeLimit(.minutes(15))) struct InvocationTests {
    private func numbers(_ arguments: String...) -> [String]? {
        guard case .run(let listings) = Invocation(arguments) else { return nil }
        return listings.map(\.number)
    }

    @Test func withoutArgumentsAllNineteenListingsRunInOrder() {
        #expect(numbers() == (1...19).map { "3-\($0)" })
    }

    @Test func aNumberRunsThatListing() {
        #expect(numbers("3-7") == ["3-7"])
        #expect(numbers("3-10", "3-1") == ["3-10", "3-1"])
    }

    @Test func helpIsShownWhereverItIsAskedFor() {
        for arguments in [["--help"], ["-h"], ["3-1", "--help"]] {
            guard case .help = Invocation(arguments) else {
                Issue.record("\(arguments) shows no help")
                continue
            }
        }
    }

    @Test(arguments: ["3-0", "3-20", "3-", "7", "", "--all"])
    func whatIsNoListingIsRefused(argument: String) {
        guard case .refuse(let reason) = Invocation(["3-1", argument]) else {
            Issue.record("\(argument) is accepted")
            return
        }
        #expect(reason.hasSuffix(argument))
    }

    @Test func theUsageNamesEveryListing() {
        for listing in Listing.all {
            #expect(Invocation.usage.contains("  \(listing.number) "))
            #expect(Invocation.usage.contains(listing.title))
        }
    }

    @Test func aWrongArgumentEndsTheProgramWithItsUsageOnStandardError() async throws {
        let result = await #expect(
            processExitsWith: .exitCode(2),
            observing: [\.standardErrorContent]
        ) {
            Program.main(["3-20"])
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.hasPrefix("Guide: there is no listing 3-20\n"))
        #expect(text.contains("Usage: Guide [LISTING ...]"))
    }

    @Test func aListingIsPrintedAsItRuns() async throws {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardOutputContent]
        ) {
            Program.main(["3-3"])
        }
        let text = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        #expect(
            text.contains(
                "Listing 3-3: The custom input source object\n  2 commands wait\n"
            )
        )
    }
}
