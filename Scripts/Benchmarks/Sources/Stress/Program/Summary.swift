import BenchSupport
import Glibc

/// The work and the findings of a run of the program, for people.
struct Summary {
    /// The bytes that may be allocated at the end and were not at the start: the memory that the
    /// language and the library allocate once and keep.
    private static let mostLeft = 1_048_576

    let settings: Settings
    let scenarios: Int
    let time: Int64
    let interruption: CInt?
    let account: Account
    let lateness: Lateness
    let before: ProcessFigures
    let after: ProcessFigures

    /// Checks that nothing is left behind.
    func check() {
        demand(
            after.descriptors == before.descriptors,
            "as many descriptors at the end as at the start, \(before.descriptors)",
            "\(after.descriptors)"
        )
        guard let first = before.allocatedBytes, let last = after.allocatedBytes else { return }
        demand(
            last - first <= Self.mostLeft,
            "at most \(Text.mebibytes(Self.mostLeft)) more allocated at the end than at the start",
            "\(Text.mebibytes(last - first)) more"
        )
    }

    var text: String {
        (["", account.text] + waits + lateness.lines + process + [verdict]).joined(separator: "\n")
    }

    private var waits: [String] {
        let passes = account[.passes]
        guard passes > 0 else { return [] }
        let waits = Text.grouped(account[.waits])
        return ["observed        \(Text.grouped(passes)) passes, \(waits) of them with a wait"]
    }

    private var process: [String] {
        let voluntary = after.voluntarySwitches - before.voluntarySwitches
        let involuntary = after.involuntarySwitches - before.involuntarySwitches
        let user = Text.decimal(after.userTime - before.userTime, 1)
        let system = Text.decimal(after.systemTime - before.systemTime, 1)
        return [
            "wake-ups        \(Text.grouped(voluntary)) of threads that slept for whatever reason, "
                + "\(Text.grouped(involuntary)) of threads that had to give way",
            "processor       \(user) s in the program, \(system) s in the kernel",
            "memory          \(Text.mebibytes(before.residentBytes)) resident at the start, "
                + "\(Text.mebibytes(after.residentBytes)) at the end, "
                + "\(Text.mebibytes(after.peakResidentBytes)) at most",
            "allocated       \(Self.text(before.allocatedBytes)) at the start, "
                + "\(Self.text(after.allocatedBytes)) at the end",
            "descriptors     \(before.descriptors) at the start, \(after.descriptors) at the end",
        ]
    }

    private static func text(_ bytes: Int?) -> String { bytes.map(Text.mebibytes) ?? "unknown" }

    private var verdict: String {
        let end = interruption.map { ", stopped early by signal \($0)" } ?? ""
        let seconds = Text.decimal(Double(time) / 1e9, 1)
        return """
            stress: passed. Nothing was lost, early, twice or out of order in \(seconds) s, \
            \(scenarios) scenarios, \(settings.threads) threads, seed \(settings.seed)\(end).
            """
    }
}
