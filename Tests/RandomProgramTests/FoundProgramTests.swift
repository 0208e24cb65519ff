import RandomPrograms
import Testing

/// Programs that were found by chance, made as small as they would get.
@Suite(.timeLimit(.minutes(15)))
struct FoundProgramTests {
    @Test(arguments: Stage.allCases)
    func timerOfTheBatchThatIsSetToNowFiresInTheBatch(stage: Stage) {
        let program = Program(
            items: [
                Item(
                    .timer(at: 0, interval: nil, tolerance: 0),
                    [[.setDate(1, after: -1_000_000)]]
                ),
                Item(.timer(at: 0, interval: nil, tolerance: 0)),
            ],
            actions: [
                .add(0, .main),
                .add(1, .main),
                .run(.main, limit: 0, returnsAfterSource: false),
            ]
        )
        #expect(program.disagreement(on: stage)?.description == nil)
    }

    /// The next visit comes before the loop goes on.
    @Test(arguments: Stage.allCases)
    func aModeThatIsCommonAlreadyDoesNotEndASleep(stage: Stage) {
        let program = Program(
            items: [Item(.source(order: 0))],
            actions: [
                .add(0, .main),
                .run(.main, limit: 1_000_000, returnsAfterSource: false),
            ],
            visits: [
                Visit(at: 1_000_000, [.addCommonMode(.main)]),
                Visit(at: 1_000_000, [.wakeUp, .remove(0, .main)]),
            ]
        )
        #expect(program.disagreement(on: stage)?.description == nil)
    }

    /// It was found ready in its other mode, before the descriptor that ends the sleep.
    @Test func aReadyPortThatJoinsDuringASleepKeepsItsPlace() {
        let program = Program(
            items: [
                Item(.reader(order: 0)),
                Item(
                    .port(capacity: 10, order: -2),
                    [[.send(1, 4), .write(2)], [.send(3, 5), .pass(2_000_000)]]
                ),
                Item(.reader(order: 4)),
                Item(.port(capacity: 1, order: 5)),
            ],
            actions: [
                .add(0, .main),
                .add(1, .main),
                .add(2, .first),
                .add(3, .first),
                .send(1, 8),
                .run(.main, limit: 2_000_000, returnsAfterSource: false),
                .run(.first, limit: 0, returnsAfterSource: false),
                .run(.main, limit: 3_000_000, returnsAfterSource: false),
            ],
            visits: [Visit(at: 0, [.write(0), .add(2, .main)])]
        )
        #expect(program.disagreement(on: .virtual)?.description == nil)
    }

    @Test(arguments: Stage.allCases)
    func timerOfTheBatchThatIsAddedAgainFiresInTheBatch(stage: Stage) {
        let program = Program(
            items: [
                Item(.timer(at: 0, interval: nil, tolerance: 0)),
                Item(.observer(4, repeats: true, order: 0), [[.setDate(0, after: 0)]]),
                Item(.timer(at: 0, interval: nil, tolerance: 0), [[.add(0, .main)]]),
            ],
            actions: [
                .add(0, .main),
                .add(1, .main),
                .add(2, .main),
                .run(.main, limit: 0, returnsAfterSource: false),
            ]
        )
        #expect(program.disagreement(on: stage)?.description == nil)
    }

    @Test(arguments: Stage.allCases)
    func portThatABeforeWaitingObserverMakesReadyComesBeforeADueTimer(stage: Stage) {
        let program = Program(
            items: [
                Item(.timer(at: 0, interval: nil, tolerance: 0)),
                Item(.observer(32, repeats: true, order: 0), [[.write(2)]]),
                Item(.reader(order: 0), [[.drain(2)]]),
            ],
            actions: [
                .add(0, .main),
                .add(1, .main),
                .add(2, .main),
                .run(.main, limit: nil, returnsAfterSource: false),
            ]
        )
        #expect(program.disagreement(on: stage)?.description == nil)
    }

    @Test func aTimerHasItsTurnAmongEqualDatesFromWhenItJoinedTheMode() {
        let program = Program(
            items: [
                Item(.timer(at: 2_000_000, interval: nil, tolerance: 0)),
                Item(.timer(at: 2_000_000, interval: nil, tolerance: 0)),
            ],
            actions: [
                .add(0, .second),
                .add(1, .main),
                .add(0, .main),
                .run(.main, limit: 10_000_000, returnsAfterSource: false),
            ]
        )
        #expect(program.disagreement(on: .virtual)?.description == nil)
    }

    @Test func aTimerThatAModeGotAsACommonOneComesAfterItsOwn() {
        let program = Program(
            items: [
                Item(.timer(at: 1_000_000, interval: nil, tolerance: 0)),
                Item(.timer(at: 1_000_000, interval: nil, tolerance: 0)),
            ],
            actions: [
                .add(0, .common),
                .add(1, .first),
                .addCommonMode(.first),
                .run(.first, limit: 5_000_000, returnsAfterSource: false),
            ]
        )
        #expect(program.disagreement(on: .virtual)?.description == nil)
    }

    @Test func datesThatPassWhileOthersOfTheBatchRunAreMissedByTheNextFire() {
        let redated = Program(
            items: [
                Item(
                    .timer(at: 0, interval: nil, tolerance: 0),
                    [[.setDate(1, after: 2_000_000), .pass(5_000_000)]]
                ),
                Item(.timer(at: 0, interval: 1_000_000, tolerance: 0)),
            ],
            actions: [
                .add(0, .main),
                .add(1, .main),
                .run(.main, limit: 30_000_000, returnsAfterSource: false),
            ]
        )
        #expect(redated.disagreement(on: .virtual)?.description == nil)
        let firedNested = Program(
            items: [
                Item(
                    .timer(at: 0, interval: nil, tolerance: 0),
                    [[.run(.main, limit: 2_500_000, returnsAfterSource: false), .pass(3_000_000)]]
                ),
                Item(.timer(at: 0, interval: 1_000_000, tolerance: 0)),
            ],
            actions: [
                .add(0, .main),
                .add(1, .main),
                .run(.main, limit: 30_000_000, returnsAfterSource: false),
            ]
        )
        #expect(firedNested.disagreement(on: .virtual)?.description == nil)
    }

    @Test(arguments: Stage.allCases)
    func aPortThatGotAMessageInNoModeIsReadyInTheModeThatBecomesCommon(stage: Stage) {
        let program = Program(
            items: [
                Item(.port(capacity: 10, order: 3)),
                Item(.timer(at: 0, interval: nil, tolerance: 0), [[.addCommonMode(.second)]]),
            ],
            actions: [
                .add(0, .common),
                .add(1, .main),
                .remove(0, .main),
                .send(0, 1),
                .run(.main, limit: nil, returnsAfterSource: false),
                .run(.second, limit: 0, returnsAfterSource: false),
            ]
        )
        #expect(program.disagreement(on: stage)?.description == nil)
    }

    @Test func aReadyDescriptorIsServedInThePassOfASource() {
        let program = Program(
            items: [
                Item(.writer(order: 0)),
                Item(.writer(order: 2), [[.add(2, .main)], [.signal(2)]]),
                Item(.source(order: 0), [[.perform(3, [.main])]]),
                Item(.block, [[.signal(2)]]),
            ],
            actions: [
                .add(0, .main),
                .add(1, .main),
                .run(.main, limit: nil, returnsAfterSource: false),
            ]
        )
        #expect(program.disagreement(on: .libuv)?.description == nil)
    }

    @Test func aDescriptorThatStaysReadyComesAfterThoseItWasServedBefore() {
        let program = Program(
            items: [
                Item(.writer(order: 2)),
                Item(.timer(at: 0, interval: nil, tolerance: 0)),
                Item(.writer(order: 4)),
                Item(.reader(order: 7)),
            ],
            actions: [
                .add(0, .main),
                .add(1, .main),
                .add(2, .main),
                .add(3, .first),
                .run(.main, limit: -1_000_000, returnsAfterSource: false),
                .run(.first, limit: 3_600_000_000_000, returnsAfterSource: false),
                .run(.main, limit: nil, returnsAfterSource: false),
            ]
        )
        #expect(program.disagreement(on: .libuv)?.description == nil)
    }

    /// A timer that was taken out of every mode keeps its place among the common ones.
    @Test(arguments: Stage.allCases)
    func aCommonTimerThatWasInNoModeJoinsInItsOrder(stage: Stage) {
        let common: [Action] = [.add(0, .common), .remove(1, .main)]
        let program = Program(
            items: [
                Item(.timer(at: 0, interval: nil, tolerance: 0)),
                Item(.timer(at: 0, interval: 3_600_000_000_000, tolerance: 0), [common]),
                Item(.timer(at: 0, interval: nil, tolerance: 0), [[.addCommonMode(.first)]]),
            ],
            actions: [
                .add(1, .common),
                .add(2, .first),
                .fire(1),
                .run(.first, limit: nil, returnsAfterSource: false),
            ]
        )
        #expect(program.disagreement(on: stage)?.description == nil)
    }

    /// At the date of a run's limit, a visit of which the sleeping loop takes no notice, and one
    /// that wakes it.
    @Test func visitsOfOneDateComeUntilTheLoopTakesNotice() {
        let program = Program(
            items: [
                Item(.observer(1, repeats: true, order: 0)),
                Item(.port(capacity: 1, order: 3)),
            ],
            actions: [.add(1, .main), .run(.main, limit: 3_000_000, returnsAfterSource: false)],
            visits: [
                Visit(at: 3_000_000, [.add(0, .main)]),
                Visit(at: 3_000_000, [.send(1, 2)]),
            ]
        )
        #expect(program.disagreement(on: .virtual)?.description == nil)
    }

    /// Of what ends the sleep, the descriptor is the last that the kernel learns of.
    @Test(arguments: [[], [.wakeUp], [.stop], [.perform(2, [.main])]] as [[Action]])
    func aDescriptorThatIsAddedAtATimersDateIsServedBeforeTheTimer(others: [Action]) {
        let program = Program(
            items: [
                Item(.writer(order: 0)),
                Item(.timer(at: 500_000, interval: nil, tolerance: 0)),
                Item(.block),
                Item(.observer(64, repeats: true, order: 0)),
            ],
            actions: [
                .add(1, .main),
                .add(3, .main),
                .run(.main, limit: 5_000_000, returnsAfterSource: false),
            ],
            visits: [Visit(at: 500_000, others + [.add(0, .main)])]
        )
        #expect(program.disagreement(on: .virtual)?.description == nil)
    }

    /// Other code has read the data, and a poll has seen that.
    @Test func aDescriptorThatAPollDidNotFindIsAtTheEndOfTheLine() {
        let program = Program(
            items: [Item(.reader(order: -1)), Item(.reader(order: 2))],
            actions: [
                .add(0, .main),
                .add(1, .main),
                .write(1),
                .write(0),
                .run(.main, limit: 0, returnsAfterSource: false),
                .drain(1),
                .run(.main, limit: 0, returnsAfterSource: false),
                .write(1),
                .run(.main, limit: 1_000_000, returnsAfterSource: false),
            ]
        )
        #expect(program.disagreement(on: .virtual)?.description == nil)
    }

    /// After its call polls were skipped, and others have found nothing.
    @Test func aDescriptorThatIsReadyAgainComesAfterAMessageThatWasSentBefore() {
        let program = Program(
            items: [
                Item(.reader(order: 0), [[.drain(0), .send(1, 1)]]),
                Item(.port(capacity: 10, order: 2)),
                Item(.writer(order: 4), [[.write(0)], [.pass(2_000_000)]]),
            ],
            actions: [
                .add(0, .main),
                .add(1, .main),
                .add(2, .main),
                .run(.main, limit: 2_000_000, returnsAfterSource: false),
                .write(0),
                .run(.main, limit: 3_000_000, returnsAfterSource: false),
            ]
        )
        #expect(program.disagreement(on: .virtual)?.description == nil)
    }
}
