import CFSupport
import CoreFoundation
import Synchronization
import UVRunLoop

extension Call {
    /// The calls that find an object or ask for its state.
    static var lookups: [Call] {
        [
            Call("UVRunLoop.main") { _ in Workload { _, _ in use(UVRunLoop.main) } },
            .peer("UVRunLoop.main") { _ in Workload { _, _ in use(CFRunLoopGetMain()) } },
            Call("UVRunLoop.current") { _ in Workload { _, _ in use(UVRunLoop.current) } },
            .peer("UVRunLoop.current") { _ in Workload { _, _ in use(CFRunLoopGetCurrent()) } },
            threadCurrent,
            Call("Thread.current, other threads") { _ in
                Workload { _, _ in use(UVRunLoop.Thread.current) }
            },
            Call("Mode(rawValue:), one name") { _ in
                Workload { _, _ in use(UVRunLoop.Mode(rawValue: "com.example.contention")) }
            },
            knownNames,
            newNames,
            isValid,
            contains,
            cfContains,
        ]
    }

    private static var threadCurrent: Call {
        var call = Call("Thread.current") { _ in
            Workload { _, _ in use(UVRunLoop.Thread.current) }
        }
        call.needsLoopThreads = true
        return call
    }

    private static var knownNames: Call {
        Call("Mode(rawValue:), 10,000 known names") { _ in
            let names = (0..<10_000).map { "com.example.contention.\($0)" }
            for name in names { use(UVRunLoop.Mode(rawValue: name)) }
            // Threads begin at different places.
            return Workload { thread, number in
                let index = (thread * 1_237 + number) % names.count
                use(UVRunLoop.Mode(rawValue: names[index]))
            }
        }
    }

    private static var newNames: Call {
        Call("Mode(rawValue:), new names") { threads in
            let round = NewNames.nextRound()
            let names = (0..<threads).map { thread in
                (0..<NewNames.count).map { "com.example.new.\(round).\(thread).\($0)" }
            }
            return Workload(
                call: { thread, number in use(UVRunLoop.Mode(rawValue: names[thread][number])) },
                most: NewNames.count
            )
        }
    }

    private static var isValid: Call {
        Call("Timer, Source, Observer: isValid") { _ in
            let timer = UVRunLoop.Timer(after: .seconds(3_600), sendableHandler: { _ in })
            let source = UVRunLoop.Source(sendablePerform: { _ in })
            let observer = UVRunLoop.Observer(activities: .exit, sendableHandler: { _, _ in })
            return Workload { _, _ in
                use(timer.isValid)
                use(source.isValid)
                use(observer.isValid)
            }
        }
    }

    private static var contains: Call {
        Call("contains(_:forMode:)") { _ in
            let served = ServedLoop()
            let timer = UVRunLoop.Timer(after: .seconds(3_600), sendableHandler: { _ in })
            let loop = served.loop
            loop.add(timer, forMode: .default)
            return Workload(
                call: { _, _ in use(loop.contains(timer, forMode: .default)) },
                cleanUp: served.end
            )
        }
    }

    private static var cfContains: Call {
        .peer("contains(_:forMode:)") { _ in
            let served = ServedCFLoop()
            let timer = CF.farTimer()
            CFRunLoopAddTimer(served.loop, timer, CF.defaultMode)
            return Workload(
                call: { _, _ in
                    use(CFRunLoopContainsTimer(served.loop, timer, CF.defaultMode))
                },
                cleanUp: served.end
            )
        }
    }
}

/// Names that no mode has had.
private enum NewNames {
    /// For each thread.
    static let count = 4_000
    private static let rounds = Atomic(0)

    static func nextRound() -> Int { rounds.add(1, ordering: .relaxed).newValue }
}
