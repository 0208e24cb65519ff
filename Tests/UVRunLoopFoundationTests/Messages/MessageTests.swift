import FoundationEssentials
import TestSupport
import Testing
import UVRunLoopFoundation

/// Messages to targets, sent in a later pass, and their cancellation.
@Suite(.timeLimit(.minutes(15))) struct MessageTests {
    private final class Worker {
        let log: EventLog
        let name: String

        init(_ log: EventLog, _ name: String) {
            self.log = log
            self.name = name
        }

        func work(_ number: Int) { log.note("\(name) \(number)") }
        func greet(_ name: String?) { log.note("\(self.name) greets \(name ?? "nobody")") }
        func rest() { log.note("\(name) rests") }

        func workOn(_ number: Int) {
            work(number)
            guard number < 3 else { return }
            UVRunLoop.current.perform(
                Worker.workOn,
                target: self,
                argument: number + 1,
                order: 0,
                modes: [.default]
            )
            log.note("asked")
        }

        deinit { log.note("\(name) gone") }
    }

    @Test func messagesAreSentOnceByOrderAndThenAsTheyWereAskedFor() {
        withLoop { loop in
            let log = EventLog()
            let worker = Worker(log, "A")
            for (number, order) in [(1, 5), (2, -1), (3, 5), (4, 0)] {
                loop.perform(
                    Worker.work,
                    target: worker,
                    argument: number,
                    order: order,
                    modes: [.default, .common, UVRunLoop.Mode("another")]
                )
            }
            #expect(log.entries == [])
            loop.run()
            #expect(!loop.run(mode: UVRunLoop.Mode("another"), before: .distantFuture))
            #expect(log.entries == ["A 2", "A 4", "A 1", "A 3"])
        }
    }

    @Test func aMessageAskedForByAMessageIsSentInALaterPass() {
        withLoop { loop in
            let log = EventLog()
            let worker = Worker(log, "A")
            worker.workOn(1)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["A 1", "asked", "A 2", "asked"])
            loop.run()
            #expect(log.entries == ["A 1", "asked", "A 2", "asked", "A 3"])
        }
    }

    @Test func aMessageKeepsItsTargetUntilItIsSentAndEndsARunAfterASource() {
        withLoop { loop in
            let log = EventLog()
            loop.perform(Worker.rest, target: Worker(log, "A"), order: 0, modes: [.default])
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            #expect(log.entries == [])
            #expect(loop.run(mode: .default, before: .distantFuture))
            #expect(log.entries == ["A rests", "A gone"])
        }
    }

    @Test func messagesAreTakenBackByTargetAndArgument() {
        withLoop { loop in
            let log = EventLog()
            let (first, second) = (Worker(log, "A"), Worker(log, "B"))
            for worker in [first, second] {
                for number in 1...2 {
                    loop.perform(
                        Worker.work,
                        target: worker,
                        argument: number,
                        order: 0,
                        modes: [.default]
                    )
                }
                loop.perform(Worker.rest, target: worker, order: 0, modes: [.default])
            }
            loop.cancelPerform(target: first, argument: 2)
            loop.cancelPerform(target: second, argument: nil)
            loop.cancelPerform(target: second, argument: "another type")
            loop.run()
            #expect(log.entries == ["A 1", "A rests", "B 1", "B 2"])
        }
    }

    /// The methods of selectors mostly take optional arguments.
    @Test(arguments: ["you", nil])
    func messagesWithOptionalArgumentsAreTakenBackByTheirValues(name: String?) {
        withLoop { loop in
            let log = EventLog()
            let worker = Worker(log, "A")
            for name in [name, "another"] {
                loop.perform(
                    Worker.greet,
                    target: worker,
                    argument: name,
                    order: 0,
                    modes: [.default]
                )
            }
            loop.cancelPerform(target: worker, argument: name)
            loop.run()
            #expect(log.entries == ["A greets another"])
        }
    }

    @Test func everyMessageToATargetIsTakenBackAndTheTargetLetGo() {
        withLoop { loop in
            let log = EventLog()
            do {
                let worker = Worker(log, "A")
                loop.perform(Worker.rest, target: worker, order: 0, modes: [.default])
                loop.perform(
                    Worker.work,
                    target: worker,
                    argument: 1,
                    order: 0,
                    modes: [.common]
                )
                loop.cancelPerformSelectors(withTarget: worker)
            }
            #expect(log.entries == ["A gone"])
            #expect(!loop.run(mode: .default, before: .distantFuture))
        }
    }

    @Test func whatWaitsWhenTheLoopEndsIsLetGo() {
        let log = EventLog()
        withLoop { loop in
            loop.perform(Worker.rest, target: Worker(log, "A"), order: 0, modes: [.default])
            loop.perform(Worker.rest, target: Worker(log, "B"), order: 0, modes: [])
            #expect(log.entries == ["B gone"])
        }
        #expect(log.entries == ["B gone", "A gone"])
    }

    /// Nor is anybody warned, as of a source that was forgotten.
    @Test func aMessageForNoModeIsNotSent() async {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) { sendInNoMode() }
        #expect(result?.standardErrorContent == [])
    }

    @Test func askingOnAnotherThreadTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { cancelElsewhere() }
        #expect(says("belongs to another thread", result?.standardErrorContent))
    }
}

private final class Idle: Sendable {}

private func cancelElsewhere() {
    let loop = UVRunLoop.current
    onAnotherThread { loop.cancelPerformSelectors(withTarget: Idle()) }
}

private final class Receiver: Sendable {
    func receive() {}
}

private func sendInNoMode() {
    UVRunLoop.current.perform(Receiver.receive, target: Receiver(), order: 0, modes: [])
    UVRunLoop.current.run(mode: .default, for: .zero)
}
