/// The lock that guards an item. Bodies must not call user code, and release nothing.
extension ItemOwner {
    /// Has the item enter a loop, unless the item is invalid or the loop has ended.
    ///
    /// - Parameters:
    ///   - loop: The loop; traps if the item is in another one.
    ///   - caller: Returns what the message of the trap names.
    ///   - body: Called under the loop's lock, with whether the item was in no loop before.
    @inline(__always)
    func enter(
        _ loop: UVRunLoop,
        _ caller: () -> Caller,
        _ body: (inout Engine, _ isNew: Bool) -> Void
    ) {
        while loop.withEngine({ engine in
            guard !engine.isClosed else { return false }
            let claim = claim(for: loop.location)
            if claim == .elsewhere { Self.failElsewhere(caller()) }
            if claim == .new || claim == .already { body(&engine, claim == .new) }
            return claim == .isBusy
        }) {
            waitWhileBusy()
        }
    }

    @inline(never)
    private static func failElsewhere(_ caller: Caller) -> Never {
        fail(
            """
            \(caller.subject) is in another run loop. Remove it from all modes of that one first, \
            .common included.
            """,
            file: caller.file,
            line: caller.line
        )
    }

    /// Calls a body under the lock that guards the item at present.
    ///
    /// - Parameters:
    ///   - inLoop: Called if the item is in a loop.
    ///   - nowhere: Called if it is in none.
    ///   - afterwards: Called after the lock was released, if the item was in a loop.
    /// - Returns: The result of the body.
    @inline(__always)
    func withLock<Result: Sendable>(
        _ inLoop: (UVRunLoop, inout Engine) -> Result,
        nowhere: () -> Result,
        afterwards: (UVRunLoop) -> Void = { _ in }
    ) -> Result {
        while true {
            let location = location
            guard location != .nowhere else {
                if let result = whileUnowned(nowhere) { return result }
                continue
            }
            let result = ThreadRecord.withLoop(at: location) { loop -> Result? in
                let result = loop.withEngine { engine -> Result? in
                    // It may have left before the lock was acquired; and if the loop has ended, the
                    // location may be that of another one.
                    !engine.isClosed && isIn(location) ? inLoop(loop, &engine) : nil
                }
                if result != nil { afterwards(loop) }
                return result
            }
            if let result { return result }
        }
    }

    /// Calls one body, whether the item is in a loop or not.
    func withLock<Result: Sendable>(_ body: () -> Result) -> Result {
        withLock({ _, _ in body() }, nowhere: body)
    }

    /// Calls a body under a loop's lock if the item is in that loop; otherwise returns `nil`.
    @inline(__always)
    func withLock<Result: Sendable>(
        ifIn loop: UVRunLoop,
        _ body: (inout Engine) -> Result?
    ) -> Result? {
        loop.withEngine { !$0.isClosed && isIn(loop.location) ? body(&$0) : nil }
    }
}
