// Commands that read and write values.

extension Interpreter {
    mutating func get(_ request: Request) {
        guard let slot = keyspace.slot(of: request[1], at: now) else {
            return reply.null(version: client.version)
        }
        reply.bulk(keyspace.value(of: slot))
    }

    mutating func getSeveral(_ request: Request) {
        reply.array(request.count - 1)
        for word in 1..<request.count {
            // One value requested many times may exceed the available memory.
            guard reply.bytes.count <= facts.outputLimit else { return effect = .drop }
            if let slot = keyspace.slot(of: request[word], at: now) {
                reply.bulk(keyspace.value(of: slot))
            } else {
                reply.null(version: client.version)
            }
        }
    }

    mutating func set(_ request: Request) throws(CommandError) {
        if request.count == 3 {
            keyspace.set(request[1], to: request[2], at: now)
            return reply.ok()
        }
        let options = try SetOptions(request, at: now)
        let slot = keyspace.slot(of: request[1], at: now)
        let isAllowed = options.condition.map { ($0 == .isThere) == (slot != nil) } ?? true
        if options.returnsOldValue {
            if let slot {
                reply.bulk(keyspace.value(of: slot))
            } else {
                reply.null(version: client.version)
            }
        } else if isAllowed {
            reply.ok()
        } else {
            reply.null(version: client.version)
        }
        if isAllowed {
            keyspace.set(request[1], to: request[2], expiry: options.expiry, at: now)
        }
    }

    mutating func setIfNew(_ request: Request) {
        let isNew = keyspace.slot(of: request[1], at: now) == nil
        if isNew { keyspace.set(request[1], to: request[2], at: now) }
        reply.integer(isNew ? 1 : 0)
    }

    mutating func setForTime(_ request: Request, unit: TimeUnit) throws(CommandError) {
        let name = unit == .seconds ? "setex" : "psetex"
        let time = try request.integer(2)
        guard time > 0, let expiry = unit.date(time, after: now) else {
            throw .expiryTime(of: name)
        }
        keyspace.set(request[1], to: request[3], expiry: expiry, at: now)
        reply.ok()
    }

    mutating func setSeveral(_ request: Request) throws(CommandError) {
        guard request.count % 2 == 1 else { throw .wordCount(of: "mset") }
        for word in stride(from: 1, to: request.count, by: 2) {
            keyspace.set(request[word], to: request[word + 1], at: now)
        }
        reply.ok()
    }

    mutating func append(_ request: Request) throws(CommandError) {
        guard let slot = keyspace.slot(of: request[1], at: now) else {
            keyspace.set(request[1], to: request[2], at: now)
            return reply.integer(request[2].count)
        }
        let length = keyspace.value(of: slot).count + request[2].count
        guard length <= RequestParser.Limits().word else { throw .valueTooLong }
        keyspace.append(request[2], toValueOf: slot)
        reply.integer(length)
    }

    mutating func length(_ request: Request) {
        let slot = keyspace.slot(of: request[1], at: now)
        reply.integer(slot.map { keyspace.value(of: $0).count } ?? 0)
    }

    // MARK: Numbers

    mutating func increment(_ request: Request) throws(CommandError) {
        try add(1, to: request[1])
    }

    mutating func decrement(_ request: Request) throws(CommandError) {
        try add(-1, to: request[1])
    }

    mutating func incrementBy(_ request: Request) throws(CommandError) {
        try add(try request.integer(2), to: request[1])
    }

    mutating func decrementBy(_ request: Request) throws(CommandError) {
        let amount = try request.integer(2)
        guard amount != .min else { throw .negatedOverflow }
        try add(-amount, to: request[1])
    }

    /// Adds to a number that is stored as its digits; a missing key counts as 0.
    private mutating func add(
        _ amount: Int,
        to key: ArraySlice<UInt8>
    ) throws(CommandError) {
        let slot = keyspace.slot(of: key, at: now)
        var old = 0
        if let slot {
            guard let number = keyspace.value(of: slot)[...].decimalInteger else {
                throw .notAnInteger
            }
            old = number
        }
        let (sum, isTooLarge) = old.addingReportingOverflow(amount)
        guard !isTooLarge else { throw .overflow }
        if let slot {
            keyspace.setValue(of: slot, to: sum.decimalBytes[...])
        } else {
            keyspace.set(key, to: sum.decimalBytes[...], at: now)
        }
        reply.integer(sum)
    }
}
