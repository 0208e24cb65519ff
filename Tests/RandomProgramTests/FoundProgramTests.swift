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
}
