/// A line that a client sends.
enum Request: Equatable {
    case add(name: String, number: Int)
    case total(name: String)
    case quit

    init?(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("add", 3):
            guard let number = Int(words[2]) else { return nil }
            self = .add(name: words[1], number: number)
        case ("total", 2): self = .total(name: words[1])
        case ("quit", 1): self = .quit
        default: return nil
        }
    }
}

/// The totals by name.
struct Ledger {
    private(set) var totals: [String: Int] = [:]
    let maximumNames: Int

    init(maximumNames: Int) { self.maximumNames = maximumNames }

    /// Performs a request; returns the answer, which is one line.
    mutating func perform(_ request: Request?) -> String {
        switch request {
        case .add(let name, let number): add(number, to: name)
        case .total(let name): "\(totals[name] ?? 0)"
        case .quit: "bye"
        case nil: "error: expected add NAME N, total NAME or quit"
        }
    }

    private mutating func add(_ number: Int, to name: String) -> String {
        let (sum, overflows) = (totals[name] ?? 0).addingReportingOverflow(number)
        if overflows { return "error: the total would be out of range" }
        if totals[name] == nil, totals.count == maximumNames { return "error: too many names" }
        totals[name] = sum
        return "\(sum)"
    }

    /// One line for each name, in the order of the names.
    var report: [String] { totals.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" } }
}
