import BenchSupport

/// The work done so far, by all threads.
struct Account: Sendable {
    private let tallies: [Tally]
    let start: Int64

    init(_ homes: [WorkerHome], _ start: Int64) {
        tallies = homes.map(\.tally)
        self.start = start
    }

    subscript(operation: Operation) -> Int { tallies.lazy.map { $0[operation] }.reduce(0, +) }

    var deeds: Int { tallies.lazy.map(\.deeds).reduce(0, +) }

    var bytes: Int { self[.bytesRead] }

    /// The operations of each kind, as lines of a table.
    var text: String {
        let total = deeds
        let rate = Double(total) / max(Double(now() - start) / 1e9, 0.001)
        let head = "\(Text.grouped(total)) operations, \(Text.grouped(Int(rate))) in a second"
        return ([head] + Kind.allCases.compactMap(line)).joined(separator: "\n")
    }

    private func line(_ kind: Kind) -> String? {
        let operations = Operation.allCases.filter { $0.kind == kind && self[$0] > 0 }
        guard !operations.isEmpty else { return nil }
        let parts = operations.map { "\(Text.grouped(self[$0])) \($0.title)" }
        return Text.left("  \(kind.name)", 16) + parts.joined(separator: ", ")
    }
}
