import Glibc
import RandomPrograms

/// Carries out random programs and says where the loop does not do what the contract says.
@main
struct RandomProgramRunner {
    static func main() {
        guard let options = Options(CommandLine.arguments.dropFirst()) else {
            let text = Array("usage: random-programs \(Options.usage)\n".utf8)
            _ = write(STDERR_FILENO, text, text.count)
            exit(2)
        }
        var tally = Tally()
        for stage in options.stages {
            for seed in options.firstSeed..<options.firstSeed + options.seeds {
                tally.count(Self.tries(seed, on: stage, options), seed, stage)
            }
        }
        tally.tell()
        exit(tally.differing == 0 ? 0 : 1)
    }

    /// Carries out the program of a seed, and tells of a difference.
    private static func tries(_ seed: UInt64, on stage: Stage, _ options: Options) -> Outcome {
        let program = Generator.program(seed: seed, for: stage)
        Watchdog.shared.sayWhy.withLock { $0 = { tell(seed, stage, $0) } }
        guard let found = program.disagreement(on: stage) else { return .agrees }
        if found.isLeftOutPoll, !options.isStrict { return .leftOutPoll }
        var smallest = program
        if options.shrinks {
            // A program that does not end costs seconds for each try.
            var shrinker = Shrinker(attempts: found.isEndless ? 40 : 2_000) {
                guard let other = $0.disagreement(on: stage) else { return false }
                return other.isLeftOutPoll == found.isLeftOutPoll
                    && other.isEndless == found.isEndless
            }
            smallest = shrinker.shrink(program)
        }
        tell(seed, stage, smallest)
        print((smallest.disagreement(on: stage) ?? found).description, terminator: "\n\n")
        fflush(nil)
        return .differs
    }

    private static func tell(_ seed: UInt64, _ stage: Stage, _ program: Program) {
        print("seed \(seed), \(stage.rawValue):")
        print(SwiftText.test(of: program, named: "seed\(seed)"))
    }
}

enum Outcome { case agrees, differs, leftOutPoll }

/// How it went.
struct Tally {
    private(set) var differing = 0
    private var programs = 0
    private var skippedPolls = 0

    mutating func count(_ outcome: Outcome, _ seed: UInt64, _ stage: Stage) {
        programs += 1
        if outcome == .differs { differing += 1 }
        if outcome == .leftOutPoll { skippedPolls += 1 }
    }

    func tell() {
        print(
            "random-programs: \(programs) programs, \(differing) differ from the contract;",
            "in \(skippedPolls) more the loop skipped a poll."
        )
    }
}

/// The options of the command line.
struct Options {
    static let usage = """
        [--seeds N] [--first-seed S] [--driver manual|uv|both] [--strict] [--no-shrinking]
        """

    var seeds: UInt64 = 10_000
    var firstSeed: UInt64 = 1
    var stages = Stage.allCases
    var isStrict = false
    var shrinks = true

    init?(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)[...]
        while let option = rest.popFirst() {
            switch option {
            case "--seeds":
                guard let number = rest.popFirst().flatMap(UInt64.init) else { return nil }
                seeds = number
            case "--first-seed":
                guard let number = rest.popFirst().flatMap(UInt64.init) else { return nil }
                firstSeed = number
            case "--driver":
                switch rest.popFirst() {
                case "manual": stages = [.virtual]
                case "uv": stages = [.libuv]
                case "both": stages = Stage.allCases
                default: return nil
                }
            case "--strict": isStrict = true
            case "--no-shrinking": shrinks = false
            default: return nil
            }
        }
    }
}
