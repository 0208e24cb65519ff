// Commands about keys: deletion, expiry, iteration.

extension Interpreter {
    mutating func remove(_ request: Request) {
        var removed = 0
        for word in 1..<request.count where keyspace.remove(request[word], at: now) {
            removed += 1
        }
        reply.integer(removed)
    }

    mutating func exists(_ request: Request) {
        var found = 0
        for word in 1..<request.count where keyspace.slot(of: request[word], at: now) != nil {
            found += 1
        }
        reply.integer(found)
    }

    mutating func type(_ request: Request) {
        reply.status(keyspace.slot(of: request[1], at: now) == nil ? "none" : "string")
    }

    mutating func countKeys(_ request: Request) { reply.integer(keyspace.count) }

    mutating func removeAll(_ request: Request) throws(CommandError) {
        let isPlain = request.count == 1
        let hasOption =
            request.count == 2 && (request.isWord(1, "ASYNC") || request.isWord(1, "SYNC"))
        guard isPlain || hasOption else { throw .syntax }
        keyspace.removeAll()
        reply.ok()
    }

    // MARK: Expiry

    mutating func expire(_ request: Request, unit: TimeUnit) throws(CommandError) {
        let name = unit == .seconds ? "expire" : "pexpire"
        let time = try request.integer(2)
        guard let date = unit.date(time, after: now) else { throw .expiryTime(of: name) }
        let condition = try ExpiryCondition(request)
        guard let slot = keyspace.slot(of: request[1], at: now),
            condition.allows(date, insteadOf: keyspace.expiry(of: slot))
        else { return reply.integer(0) }
        if date <= now {
            _ = keyspace.remove(request[1], at: now)
        } else {
            keyspace.setExpiry(of: slot, to: date)
        }
        reply.integer(1)
    }

    mutating func timeLeft(_ request: Request, unit: TimeUnit) {
        guard let slot = keyspace.slot(of: request[1], at: now) else { return reply.integer(-2) }
        let expiry = keyspace.expiry(of: slot)
        guard expiry != .never else { return reply.integer(-1) }
        let left = expiry.milliseconds - now.milliseconds
        reply.integer(unit == .seconds ? (left + 500) / 1000 : left)
    }

    mutating func persist(_ request: Request) {
        guard let slot = keyspace.slot(of: request[1], at: now),
            keyspace.expiry(of: slot) != .never
        else { return reply.integer(0) }
        keyspace.setExpiry(of: slot, to: .never)
        reply.integer(1)
    }

    // MARK: Iteration

    mutating func matchingKeys(_ request: Request) throws(CommandError) {
        let pattern = GlobPattern(request[1])
        var budget = GlobPattern.Budget()
        var keys: [[UInt8]] = []
        _ = keyspace.scan(from: 0, slots: .max, at: now) { entry in
            if pattern.matches(entry.key, within: &budget) { keys.append(entry.key) }
        }
        guard !budget.isSpent else { throw .pattern }
        replyWithKeys(keys)
    }

    mutating func scan(_ request: Request) throws(CommandError) {
        guard let start = request[1].decimalInteger, start >= 0 else { throw .cursor }
        let options = try ScanOptions(request)

        // Empty slots count too, at a low rate as in Redis, so that a sparse keyspace does not make
        // one SCAN take arbitrarily long.
        var budget = GlobPattern.Budget()
        var keys: [[UInt8]] = []
        var seen = 0
        var cursor = start
        for _ in 0..<10 where seen < options.count {
            let slots = min(options.count - seen, 1 << 20)
            cursor = keyspace.scan(from: cursor, slots: slots, at: now) { entry in
                seen += 1
                if options.accepts(entry.key, within: &budget) { keys.append(entry.key) }
            }
            if cursor == 0 { break }
        }
        guard !budget.isSpent else { throw .pattern }
        reply.array(2)
        reply.bulk(cursor.decimalBytes)
        replyWithKeys(keys)
    }

    private mutating func replyWithKeys(_ keys: [[UInt8]]) {
        reply.array(keys.count)
        for key in keys { reply.bulk(key) }
    }
}

/// The options after the time in `EXPIRE key seconds …`.
struct ExpiryCondition {
    private var needsNone = false
    private var needsOne = false
    private var needsLater = false
    private var needsSooner = false

    init(_ request: Request) throws(CommandError) {
        for word in 3..<max(request.count, 3) {
            if request.isWord(word, "NX") {
                needsNone = true
            } else if request.isWord(word, "XX") {
                needsOne = true
            } else if request.isWord(word, "GT") {
                needsLater = true
            } else if request.isWord(word, "LT") {
                needsSooner = true
            } else {
                throw .option(request.text(word))
            }
        }
        if needsNone, needsOne || needsLater || needsSooner { throw .expiryOptions }
        if needsLater, needsSooner { throw .expiryComparison }
    }

    /// Whether a date may replace another; never is later than every date.
    func allows(_ date: WallTime, insteadOf old: WallTime) -> Bool {
        if needsNone, old != .never { return false }
        if needsOne, old == .never { return false }
        if needsLater, date <= old { return false }
        if needsSooner, date >= old { return false }
        return true
    }
}

/// The options after the cursor in `SCAN cursor …`.
struct ScanOptions {
    private(set) var count = 10
    private var pattern: GlobPattern?
    private var wantsStrings = true

    init(_ request: Request) throws(CommandError) {
        var word = 2
        while word < request.count {
            guard word + 1 < request.count else { throw .syntax }
            if request.isWord(word, "COUNT") {
                count = try request.integer(word + 1)
                guard count > 0 else { throw .syntax }
            } else if request.isWord(word, "MATCH") {
                pattern = GlobPattern(request[word + 1])
            } else if request.isWord(word, "TYPE") {
                wantsStrings = request.isWord(word + 1, "STRING")
            } else {
                throw .syntax
            }
            word += 2
        }
    }

    func accepts(_ key: [UInt8], within budget: inout GlobPattern.Budget) -> Bool {
        wantsStrings && (pattern?.matches(key, within: &budget) ?? true)
    }
}
