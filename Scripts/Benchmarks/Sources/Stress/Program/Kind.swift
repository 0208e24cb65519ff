import ArgumentParser

/// A kind of load.
enum Kind: Int, CaseIterable, Sendable {
    case timers, blocks, signals, descriptors, ports, performs, nested, changes, interrupts,
        threads,
        captures, forks

    /// The name on the command line and in the summary.
    var name: String { "\(self)" }

    /// The load of this kind, in words.
    var explanation: String {
        switch self {
        case .timers: "one-shot and repeating timers, re-dated and cancelled"
        case .blocks: "blocks handed to loops, in several modes"
        case .signals: "custom sources signalled, some of them in two loops"
        case .descriptors: "bytes through pipes and socket pairs, read bit by bit, to the hang-up"
        case .ports: "messages through ports that fill up"
        case .performs: "performs with and without waiting for them"
        case .nested: "runs within handlers, stops, runs of empty modes"
        case .changes: "items added to and removed from other threads' loops"
        case .interrupts: "signals sent to the process, of which every loop is told"
        case .threads: "threads with loops, started, used and stopped"
        case .captures: "items that other threads invalidate, and where their captures are released"
        case .forks: "child processes forked while everything goes on, which use loops too"
        }
    }
}

extension Kind: ExpressibleByArgument {
    init?(argument: String) {
        guard let kind = Self.allCases.first(where: { $0.name == argument }) else { return nil }
        self = kind
    }

    static var allValueStrings: [String] { allCases.map(\.name) }
    var defaultValueDescription: String { name }
}
