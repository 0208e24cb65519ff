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
        // From the end: most plans are made in the order of their dates.
        let earlier = plans.lastIndex { $0.date <= date }
        plans.insert(Plan(date: date, action: action), at: earlier.map { $0 + 1 } ?? 0)
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
