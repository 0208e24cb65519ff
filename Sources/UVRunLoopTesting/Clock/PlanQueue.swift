/// Something that another thread does at a date.
struct Plan: Sendable {
    let date: Int64
    let action: @Sendable () -> Void
}

/// Plans in the order of their dates; of equal dates, the one that was made first.
struct PlanQueue {
    private var plans: [Plan] = []

    /// The date of the first plan.
    var soonest: Int64? { plans.first?.date }

    mutating func insert(at date: Int64, _ action: @escaping @Sendable () -> Void) {
        plans.insert(Plan(date: date, action: action), at: end(of: date))
    }

    /// Returns the index behind the plans until a date, by bisection.
    private func end(of date: Int64) -> Int {
        var range = plans.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if plans[middle].date <= date {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    /// Takes the first plan, if its date is this one or an earlier one.
    mutating func takeFirst(until date: Int64) -> Plan? {
        guard let first = plans.first, first.date <= date else { return nil }
        return plans.removeFirst()
    }

    mutating func takeAll() -> [Plan] {
        defer { plans = [] }
        return plans
    }
}
