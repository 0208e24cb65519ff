import Testing

@testable import UVRunLoop

/// A small change of the protocol that the explorer has to notice.
struct Mutant: Sendable, CustomTestStringConvertible {
    /// Changes of how the loop and its senders use the words.
    enum Structure: Sendable {
        case markRemovedAfterTheCheck
        case sleepWithoutACheck
        case wakeUpNotGivenBack
        case publishedAfterTheLock
        case unmarkedBlocks
        case markedBeforeThePost
        case kickOutsideTheLock
        case markedBeforeItIsFilled
        case teardownWithoutWaiting
        case planAfterFallingAsleep
        case planReadOfNoSleep
        case planWithoutVersion
    }

    let name: String
    var fault: Fault?
    var structure: Structure?

    var testDescription: String { name }

    private init(_ name: String, _ structure: Structure) {
        self.name = name
        self.structure = structure
    }

    private init(_ name: String, _ location: Int, _ change: Fault.Change) {
        self.name = name
        fault = Fault(location: location, change: change)
    }

    /// Small scripts, the smallest first.
    var scripts: [Script] {
        let lengths = [(1, 0), (1, 1)]
        return lengths.flatMap { lengths in
            [UInt8(0), 1].flatMap { spuriousWakes in
                LoopProgram.Plan.all.flatMap { plan in
                    ScriptFamily(plan: plan, lengths: lengths, spuriousWakes: spuriousWakes).scripts
                }
            }
        }
    }

    static let all: [Mutant] = [
        Mutant("the end of a run is a load and a store", World.Word.run, .splitExchange),
        Mutant("a stop is a load and a store", World.Word.run, .splitCompareExchange),
        Mutant("the loop falls asleep without a check", World.Word.wake, .uncheckedCompareExchange),
        Mutant("falling asleep is a load and a store", World.Word.wake, .splitCompareExchange),
        Mutant("a change is not marked", World.Word.wake, .ignoredOr(2)),
        Mutant("a wake-up is not marked", World.Word.wake, .ignoredOr(4)),
        Mutant("a loop that is awake seems asleep", World.Word.wake, .ignoredAnd(1)),
        Mutant("the mark is not removed before a check", World.Word.wake, .ignoredAnd(2)),
        Mutant("a wake-up is not forgotten", World.Word.wake, .ignoredAnd(4)),
        Mutant("a mark is a load and a store", World.Word.wake, .splitOr),
        Mutant("the loop clears bits by a load and a store", World.Word.wake, .splitAnd),
        Mutant("a mark orders nothing", World.Word.wake, .relaxed(.or)),
        Mutant("the removal of a mark orders nothing", World.Word.wake, .relaxed(.and)),
        Mutant("no order of marks and blocks", World.Word.wake, .notSequential),
        Mutant("no order of reservations and marks", World.Word.tail, .notSequential),
        Mutant("no order of blocks and marks", World.Word.mark, .notSequential),
        Mutant("a reservation is a load and a store", World.Word.tail, .splitAdd),
        Mutant("the end of the queue is a load and a store", World.Word.tail, .splitExchange),
        Mutant("the mark of a block orders nothing", World.Word.mark, .relaxed(.store)),
        Mutant("the check of a mark orders nothing", World.Word.mark, .relaxed(.load)),
        Mutant("the mark is removed after the check", .markRemovedAfterTheCheck),
        Mutant("only a flag is checked before the sleep", .sleepWithoutACheck),
        Mutant("a nested run keeps the outer one's wake-up", .wakeUpNotGivenBack),
        Mutant("the state is published after the lock", .publishedAfterTheLock),
        Mutant("a block comes without a mark", .unmarkedBlocks),
        Mutant("the mark comes before the block", .markedBeforeThePost),
        Mutant("the kernel is called outside the lock", .kickOutsideTheLock),
        Mutant("a slot is marked before it is filled", .markedBeforeItIsFilled),
        Mutant("teardown does not wait for senders", .teardownWithoutWaiting),
        Mutant("falling asleep orders nothing", World.Word.wake, .relaxed(.compareExchange)),
        Mutant("the plan of a sleep comes after its beginning", .planAfterFallingAsleep),
        Mutant("a plan is read although the loop is awake", .planReadOfNoSleep),
        Mutant("a plan counts although the contents are new", .planWithoutVersion),
        Mutant("to see the loop asleep orders nothing", World.Word.wake, .relaxed(.load)),
    ]
}
