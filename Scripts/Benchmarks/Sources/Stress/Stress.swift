import BenchSupport
import ArgumentParser

/// The command line.
@main
struct Stress: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stress",
        abstract: "Puts run loops under load, and checks them as it goes.",
        discussion: """
            Threads with loops of their own hand each other work of all kinds, in scenarios of a \
            fraction of a second. At the end of each, everything that was sent has to be accounted \
            for. The first thing that is lost, early, twice or out of order ends the program with \
            a sentence and status 1.
            """
    )

    @Option(help: "Put load on the loops for so many seconds. (default: 10)")
    var seconds: Double?
    @Option(help: "… for so many minutes.")
    var minutes: Double?
    @Option(help: "… for so many hours.")
    var hours: Double?
    @Option(help: "How many threads have loops.")
    var threads = 4
    @Option(help: "How many threads without loops act on those.")
    var outsiders = 1
    @Option(help: "Where all choices come from. (default: another number each time)")
    var seed: UInt64?
    @Option(help: ArgumentHelp("Only this kind of load; may be given again.", valueName: "kind"))
    var only: [Kind] = []
    @Option(help: ArgumentHelp("Not this kind of load; may be given again.", valueName: "kind"))
    var without: [Kind] = []
    @Option(help: "For how many seconds nothing at all may happen.")
    var patience = 60.0
    @Option(help: ArgumentHelp("Have something go wrong on purpose.", valueName: "fault"))
    var inject: Fault?
    @Option(help: ArgumentHelp("So many blocks from eight threads instead.", valueName: "count"))
    var posts: Int?
    @Option(help: ArgumentHelp("So many captures of each kind instead.", valueName: "count"))
    var releases: Int?
    @Flag(help: "List the kinds of load.")
    var kinds = false
    @Flag(help: "List what can be made to go wrong.")
    var listFaults = false

    static func main() { runAsScript() }

    func validate() throws {
        let times = [seconds, minutes, hours].compactMap(\.self)
        guard times.count <= 1 else {
            throw ValidationError("Give the time in seconds, minutes or hours.")
        }
        guard times.allSatisfy({ $0 > 0 && $0 <= 1e6 }) else {
            throw ValidationError("The time has to be more than nothing, and at most a million.")
        }
        guard 1...1_000 ~= threads else { throw ValidationError("1 to 1000 threads are possible.") }
        guard 0...1_000 ~= outsiders else {
            throw ValidationError("0 to 1000 threads without loops are possible.")
        }
        guard 0.5...86_400 ~= patience else {
            throw ValidationError("The patience has to be from half a second to a day.")
        }
        guard posts.map({ $0 >= 8 }) ?? true else {
            throw ValidationError("There have to be 8 posts at least.")
        }
        guard releases.map({ $0 > 0 }) ?? true else {
            throw ValidationError("There has to be a capture at least.")
        }
        guard !chosenKinds.isEmpty else { throw ValidationError("No kind of load is left.") }
    }

    private var chosenKinds: [Kind] {
        if only.isEmpty, let inject { return inject.kinds }
        return Kind.allCases.filter { (only.isEmpty || only.contains($0)) && !without.contains($0) }
    }

    func run() throws {
        if kinds { return Output.say(Self.list(Kind.allCases.map { ($0.name, $0.explanation) })) }
        if listFaults { return Output.say(Fault.allCases.map(\.rawValue).joined(separator: "\n")) }
        let time = seconds ?? minutes.map { $0 * 60 } ?? hours.map { $0 * 3_600 } ?? 10
        let settings = Settings(
            seed: seed ?? UInt64.random(in: 1...999_999_999),
            threads: threads,
            outsiders: outsiders,
            time: Int64(time * 1e9),
            kinds: chosenKinds,
            patience: Int64(patience * 1e9),
            fault: inject
        )
        // A thread with a loop takes five descriptors, and what others write to it six.
        DescriptorLimit.raise()
        if let releases { return try ReleaseCount(count: releases).main() }
        if let posts { return PostFlood(count: posts, senders: 8).main() }
        Output.say(
            """
            stress: seed \(settings.seed), \(threads) threads, \(outsiders) outsiders, \(Text.decimal(time, 1)) s: \
            \(settings.kinds.map(\.name).joined(separator: " "))
            """
        )
        let summary = ScenarioRunner(settings).run()
        summary.check()
        Output.say(summary.text)
    }

    private static func list(_ lines: [(String, String)]) -> String {
        lines.map { Text.left($0, 13) + $1 }.joined(separator: "\n")
    }
}
