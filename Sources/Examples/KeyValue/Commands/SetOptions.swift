/// The options after the value in `SET key value …`.
struct SetOptions {
    /// A condition on the key's previous state.
    enum Condition {
        case isThere
        case isNew
    }

    var condition: Condition?
    var returnsOldValue = false
    /// The new expiry date, or `nil` to keep the old one.
    var expiry: WallTime? = .never

    init(_ request: Request, at now: WallTime) throws(CommandError) {
        var word = 3
        var hasDate = false
        while word < request.count {
            if request.isWord(word, "NX"), condition != .isThere {
                condition = .isNew
            } else if request.isWord(word, "XX"), condition != .isNew {
                condition = .isThere
            } else if request.isWord(word, "GET") {
                returnsOldValue = true
            } else if request.isWord(word, "KEEPTTL"), !hasDate {
                expiry = nil
            } else if let clock = Self.clock(of: request, word), !hasDate, expiry != nil,
                word + 1 < request.count
            {
                hasDate = true
                word += 1
                expiry = try Self.date(request, word, clock, now)
            } else {
                throw .syntax
            }
            word += 1
        }
    }

    /// The unit of an option's time, and whether it is relative to now.
    private static func clock(
        of request: Request,
        _ word: Int
    ) -> (unit: TimeUnit, isRelative: Bool)? {
        if request.isWord(word, "EX") { return (.seconds, true) }
        if request.isWord(word, "PX") { return (.milliseconds, true) }
        if request.isWord(word, "EXAT") { return (.seconds, false) }
        if request.isWord(word, "PXAT") { return (.milliseconds, false) }
        return nil
    }

    private static func date(
        _ request: Request,
        _ word: Int,
        _ clock: (unit: TimeUnit, isRelative: Bool),
        _ now: WallTime
    ) throws(CommandError) -> WallTime {
        let start = clock.isRelative ? now : WallTime(milliseconds: 0)
        let time = try request.integer(word)
        guard time > 0, let date = clock.unit.date(time, after: start) else {
            throw .expiryTime(of: "set")
        }
        return date
    }
}

/// A unit of time in commands.
enum TimeUnit: Int {
    case milliseconds = 1
    case seconds = 1000

    /// The date that many units after another, or `nil` on overflow.
    func date(_ count: Int, after start: WallTime) -> WallTime? {
        let (distance, isTooFar) = count.multipliedReportingOverflow(by: rawValue)
        let (sum, isTooLate) = start.milliseconds.addingReportingOverflow(distance)
        return isTooFar || isTooLate ? nil : WallTime(milliseconds: sum)
    }
}
