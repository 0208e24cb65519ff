import Glibc

/// The dates of a line such as `*/10 0 9-17 * * 1-5`: second, minute, hour, day, month, weekday.
///
/// A field is `*`, or numbers and ranges with commas between them, each with a step such as `/10`
/// if it has one. Weekdays count from Sunday, 0. Unlike in cron, a date has to match all fields.
struct CronExpression {
    /// The text is no such line.
    struct Misuse: Error, CustomStringConvertible {
        let description: String
    }

    private static let ranges = [0...59, 0...59, 0...23, 1...31, 1...12, 0...6]
    private let fields: [Set<Int>]

    init(_ words: some Collection<Substring>) throws(Misuse) {
        guard words.count == Self.ranges.count else {
            throw Misuse(description: "expected six fields")
        }
        var fields: [Set<Int>] = []
        for (word, range) in zip(words, Self.ranges) {
            fields.append(try Self.numbers(word, within: range))
        }
        self.fields = fields
    }

    private static func numbers(
        _ field: Substring,
        within range: ClosedRange<Int>
    ) throws(Misuse) -> Set<Int> {
        var numbers: Set<Int> = []
        for part in field.split(separator: ",", omittingEmptySubsequences: false) {
            let halves = part.split(separator: "/", omittingEmptySubsequences: false)
            let bounds = halves[0].split(separator: "-", omittingEmptySubsequences: false)
            let ends =
                halves[0] == "*"
                ? [range.lowerBound, range.upperBound] : bounds.map { Int($0) ?? -1 }
            let step = halves.count == 2 ? Int(halves[1]) ?? 0 : 1
            guard halves.count <= 2, (1...2).contains(ends.count), step > 0,
                ends.allSatisfy(range.contains), ends[0] <= ends[ends.count - 1]
            else { throw Misuse(description: "\(field) is no field within \(range)") }
            numbers.formUnion(stride(from: ends[0], through: ends[ends.count - 1], by: step))
        }
        return numbers
    }

    /// The first date after another, by the local calendar; `nil` if there is none in nine years.
    ///
    /// The next 29 February may be eight years away.
    func next(after date: time_t) -> time_t? {
        var next = date + 1
        while next < date + 9 * 366 * 86_400 {
            var parts = tm()
            localtime_r(&next, &parts)
            if !matchesDay(parts) {
                next = Self.nextDay(parts)
            } else if !fields[2].contains(Int(parts.tm_hour)) {
                next += 3_600 - time_t(parts.tm_min) * 60 - time_t(parts.tm_sec)
            } else if !fields[1].contains(Int(parts.tm_min)) {
                next += 60 - time_t(parts.tm_sec)
            } else if !fields[0].contains(Int(parts.tm_sec)) {
                next += 1
            } else {
                return next
            }
        }
        return nil
    }

    private func matchesDay(_ parts: tm) -> Bool {
        fields[3].contains(Int(parts.tm_mday)) && fields[4].contains(Int(parts.tm_mon) + 1)
            && fields[5].contains(Int(parts.tm_wday))
    }

    private static func nextDay(_ parts: tm) -> time_t {
        var day = parts
        day.tm_mday += 1
        (day.tm_hour, day.tm_min, day.tm_sec, day.tm_isdst) = (0, 0, 0, -1)
        return mktime(&day)
    }
}
