import Testing
import UVRunLoop

@testable import Tally

/// The service with its clients, on virtual time.
@Suite(.timeLimit(.minutes(15))) struct ServiceTests {
    // MARK: Requests

    @Test func totalsAreKeptByNameForAllClients() throws {
        try withService { stage in
            let (one, other) = (try await stage.connect(), try await stage.connect())
            #expect(try await one.ask("add apples 3") == "3")
            #expect(try await other.ask("add apples 4") == "7")
            #expect(try await other.ask("add pears -1") == "-1")
            #expect(try await one.ask("total apples") == "7")
            #expect(try await one.ask("total plums") == "0")
            #expect(await stage.service.ledger.report == ["apples 7", "pears -1"])
        }
    }

    @Test func badRequestsGetAnErrorAndTheConnectionStays() throws {
        try withService(Service.Limits(names: 1)) { stage in
            let client = try await stage.connect()
            let misuse = "error: expected add NAME N, total NAME or quit"
            for request in [
                "", "add", "add a", "add a b", "add a 1 2", "total", "Quit", "add a 1.5",
            ] {
                #expect(try await client.ask(request) == misuse)
            }
            #expect(try await client.ask("add a \(Int.max)") == "\(Int.max)")
            #expect(try await client.ask("add a 1") == "error: the total would be out of range")
            #expect(try await client.ask("add b 1") == "error: too many names")
            #expect(await stage.service.ledger.report == ["a \(Int.max)"])
        }
    }

    @Test func linesOfTwoClientsThatComeInPiecesAreNotMixed() throws {
        try withService { stage in
            let (one, other) = (try await stage.connect(), try await stage.connect())
            for (piece, otherPiece) in zip(
                ["ad", "d a", " 1", "2\r\nto"],
                ["add ", "b", " 3", "4\n"]
            ) {
                one.send(piece)
                other.send(otherPiece)
                try await stage.loop.sleep(for: .seconds(1))
            }
            #expect(try await one.line() == "12")
            #expect(try await other.line() == "34")
            #expect(try await one.ask("tal a") == "12")
        }
    }

    @Test func quitEndsTheConnectionAndDropsLaterRequests() throws {
        try withService { stage in
            let client = try await stage.connect()
            client.send("add a 1\nquit\nadd a 1\n")
            #expect(try await client.rest() == ["1", "bye"])
            #expect(await stage.service.ledger.report == ["a 1"])
        }
    }

    // MARK: Limits

    @Test func lineThatIsTooLongEndsTheConnectionAfterTheAnswersBefore() throws {
        try withService(Service.Limits(lineLength: 7)) { stage in
            let client = try await stage.connect()
            #expect(try await client.ask("total a") == "0")
            client.send("total a\ntotal ab\nadd a 1\n")
            #expect(try await client.rest() == ["0", "error: a line may have 7 bytes"])
            #expect(await stage.service.ledger.report == [])
        }
    }

    @Test func lineWithoutEndIsRefusedWhenItIsTooLong() throws {
        try withService(Service.Limits(lineLength: 7)) { stage in
            let client = try await stage.connect()
            client.send("total a")
            try await stage.loop.sleep(for: .seconds(1))
            client.send("b")
            #expect(try await client.rest() == ["error: a line may have 7 bytes"])
        }
    }

    @Test func silentClientIsClosedAtTheDateAndNotBefore() throws {
        try withService(Service.Limits(silence: .seconds(60))) { stage in
            let start = stage.now
            let client = try await stage.connect()
            #expect(try await client.rest() == ["error: silent for too long"])
            #expect(start.duration(to: stage.now) == .seconds(60))
        }
    }

    @Test func clientThatSpeaksInTimeIsKept() throws {
        try withService(Service.Limits(silence: .seconds(60))) { stage in
            let client = try await stage.connect()
            for count in 1...10 {
                try await stage.loop.sleep(for: .seconds(60) - .nanoseconds(1))
                #expect(try await client.ask("add a 1") == "\(count)")
            }
            // A part of a line is enough.
            try await stage.loop.sleep(for: .seconds(60) - .nanoseconds(1))
            client.send("total")
            let start = stage.now
            #expect(try await client.rest() == ["error: silent for too long"])
            #expect(start.duration(to: stage.now) == .seconds(60))
        }
    }

    @Test func clientThatDoesNotReadIsClosedAfterBothLimits() throws {
        let limits = Service.Limits(silence: .seconds(60), closing: .seconds(5))
        try withService(limits) { stage in
            let client = try await stage.connect()
            // The client reads nothing, so the answers fill the sockets and then the queue.
            client.send(String(repeating: "nonsense\n", count: 100_000))
            try await stage.loop.sleep(for: .seconds(60) - .nanoseconds(1))
            #expect(client.port.queuedBytes > 0)
            try await stage.loop.sleep(for: .seconds(5) + .nanoseconds(2))
            let answers = try? await client.rest()
            #expect((answers?.count ?? 0) < 100_000)
        }
    }

    // MARK: The end

    @Test func requestsOnTheirWayAreAnsweredBeforeTheEnd() throws {
        try withService { stage in
            let clients = [try await stage.connectAccepted(), try await stage.connectAccepted()]
            for client in clients { client.send("add a 1\nadd a 1\n") }
            async let end: Void = stage.service.end()
            #expect(try await clients[0].rest() + clients[1].rest() == ["1", "2", "3", "4"])
            try await stage.serving.value
            await end
            #expect(await stage.service.ledger.report == ["a 4"])
        }
    }

    @Test func silentClientDoesNotDelayTheEndIfItEnds() throws {
        try withService(Service.Limits(grace: .seconds(1))) { stage in
            let client = try await stage.connectAccepted()
            let start = stage.now
            async let end: Void = stage.service.end()
            #expect(try await client.rest() == [])
            try await stage.serving.value
            #expect(start.duration(to: stage.now) == .seconds(1))
            await end
        }
    }

    @Test func requestThatHasBegunMayBeFinished() throws {
        try withService(Service.Limits(grace: .seconds(1), closing: .seconds(5))) { stage in
            let client = try await stage.connectAccepted()
            client.send("add a")
            let start = stage.now
            async let end: Void = stage.service.end()
            try await stage.loop.sleep(for: .seconds(6) - .nanoseconds(1))
            client.send(" 1\n")
            #expect(try await client.rest() == ["1"])
            try await stage.serving.value
            #expect(start.duration(to: stage.now) < .seconds(6))
            await end
            #expect(await stage.service.ledger.report == ["a 1"])
        }
    }

    @Test func clientThatNeverEndsIsClosedAtTheDate() throws {
        try withService(Service.Limits(grace: .seconds(1), closing: .seconds(5))) { stage in
            let clients = [try await stage.connectAccepted(), try await stage.connectAccepted()]
            clients[1].send("add a")
            let start = stage.now
            async let end: Void = stage.service.end()
            try await stage.loop.sleep(for: .seconds(6) - .nanoseconds(1))
            for client in clients { #expect(client.port.isValid) }
            try await stage.serving.value
            #expect(start.duration(to: stage.now) == .seconds(6))
            await end
            #expect(await stage.service.ledger.report == [])
        }
    }

    @Test func serviceThatEndsTakesNoMoreClients() throws {
        try withService { stage in
            _ = try await stage.connectAccepted()
            async let end: Void = stage.service.end()
            try await stage.loop.sleep(for: .milliseconds(1))
            await #expect(throws: (any Error).self) { _ = try await stage.connect().port }
            await end
        }
    }
}
