import UVRunLoop

extension Operation {
    static let passes = [
        Operation("pass", "a pass that finds nothing to do and does not wait", count: 1_000) {
            loop in
            loop.keep()
            return { count, round in
                round.loop { for _ in 0..<count { loop.makePass() } }
            }
        },
        Operation("pass.observed", "such a pass with an observer of all activities", count: 1_000) {
            loop in
            loop.keep()
            let counter = Counter()
            let observer = UVRunLoop.Observer(
                activities: .all,
                handler: { _, _ in counter.countOne() }
            )
            loop.add(observer, forMode: .default)
            return { count, round in
                round.loop { for _ in 0..<count { loop.makePass() } }
                let calls = counter.take()
                precondition(calls >= 4 * count, "The observer was called \(calls) times.")
            }
        },
        Operation("modes", "a pass, in two modes in turn", count: 1_000) { loop in
            passesInTurn(loop, items: 1)
        },
        Operation("modes.100", "the same with 100 sources and timers in each", count: 1_000) {
            loop in
            passesInTurn(loop, items: 100)
        },
        Operation("runs", "a finite run that handles one source", count: 1_000) { loop in
            let source = UVRunLoop.Source(perform: { _ in })
            loop.add(source, forMode: .default)
            return { count, round in
                round.loop {
                    for _ in 0..<count {
                        source.signal()
                        let result = loop.run(
                            for: .seconds(10),
                            returnAfterSourceHandled: true
                        )
                        precondition(result == .handledSource, "A run ended as \(result).")
                    }
                }
            }
        },
        Operation("nested", "a run within a source's handler, of one pass", count: 1_000) { loop in
            loop.keep()
            var nest = {}
            let source = UVRunLoop.Source(perform: { _ in nest() })
            loop.add(source, forMode: .default)
            return { count, round in
                nest = { round.loop { for _ in 0..<count { loop.makePass() } } }
                source.signal()
                loop.makePass()
            }
        },
        Operation("idle", "a second without anything to do", count: 1, needsTime: true) { loop in
            idleSeconds(loop)
        },
    ]

    private static func passesInTurn(_ loop: UVRunLoop, items: Int) -> Rounds {
        let modes = [UVRunLoop.Mode(rawValue: "one"), UVRunLoop.Mode(rawValue: "other")]
        for mode in modes {
            for _ in 0..<items {
                loop.keep(mode)
                loop.add(UVRunLoop.Timer(after: .seconds(3_600), handler: { _ in }), forMode: mode)
            }
        }
        return { count, round in
            round.loop { for turn in 0..<count { loop.makePass(in: modes[turn & 1]) } }
        }
    }

    /// The loop holds a source, a timer and a descriptor that all stay quiet.
    private static func idleSeconds(_ loop: UVRunLoop) -> Rounds {
        loop.keep()
        loop.add(UVRunLoop.Timer(after: .seconds(3_600), handler: { _ in }), forMode: .default)
        loop.add(Pipe().source { _ in }, forMode: .default)
        var passes = 0
        let observer = UVRunLoop.Observer(
            activities: .beforeTimers,
            handler: { _, _ in passes += 1 }
        )
        loop.add(observer, forMode: .default)
        return { count, round in
            passes = 0
            round.loop {
                let result = loop.run(for: .seconds(count))
                precondition(result == .timedOut, "The idle run ended as \(result).")
            }
            round.note("passes", passes)
        }
    }
}
