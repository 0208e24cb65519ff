import RandomPrograms
import Testing

/// Programs that nobody wrote: what a loop does is what the contract says.
///
/// `Scripts/random-programs` carries out as many as one likes.
@Suite(.timeLimit(.minutes(15)))
struct RandomProgramTests {
    @Test(arguments: Stage.allCases)
    func aLoopDoesWhatTheContractSays(stage: Stage) {
        for seed in 1...500 as ClosedRange<UInt64> {
            let program = Generator.program(seed: seed, for: stage)
            // The contract lets a run leave out a poll that does not wait, for 64 passes and 1 ms.
            guard let found = program.disagreement(on: stage), !found.isLeftOutPoll else {
                continue
            }
            #expect(Bool(false), "seed \(seed): \(found.description)")
        }
    }

    @Test func aSeedAlwaysMakesTheSameProgram() {
        for stage in Stage.allCases {
            let program = Generator.program(seed: 7, for: stage)
            #expect(program == Generator.program(seed: 7, for: stage))
            #expect(program != Generator.program(seed: 8, for: stage))
        }
    }
}
