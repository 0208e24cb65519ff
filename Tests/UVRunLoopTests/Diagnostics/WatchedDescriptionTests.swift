import Testing

@testable import UVRunLoop

/// What a loop prints on another thread, while a monitor watches it.
@Suite(.timeLimit(.minutes(15))) struct WatchedDescriptionTests {
    @Test func aSleepingLoopPrintsHowLongItHasSlept() throws {
        try withMonitor {
            let thread = try UVRunLoop.Thread(name: "sleeper")
            awaitSleep(of: thread.runLoop)
            let words = "\(thread.runLoop)"
            #expect(words.hasPrefix("UVRunLoop \"sleeper\": asleep, sleeping for "), "\(words)")
            thread.stop()
            thread.join()
        }
    }

    @Test(arguments: UVRunLoop.HandlerKind.allCases)
    func aLoopPrintsTheKindOfTheHandlerThatItIsIn(kind: UVRunLoop.HandlerKind) throws {
        let words = try words(of: "worker") { loop, print in
            switch kind {
            case .observer:
                loop.add(UVRunLoop.Observer(activities: .beforeTimers) { _, _ in print() })
                loop.perform {}
            case .timer: loop.add(UVRunLoop.Timer(after: .zero) { _ in print() })
            case .source:
                let source = UVRunLoop.Source { _ in print() }
                loop.add(source)
                source.signal()
            case .port:
                let port = UVRunLoop.Port { _, _ in print() }
                loop.add(port)
                _ = port.send(UVRunLoop.PortMessage(id: 1))
            case .block: loop.performLocally { print() }
            case .job:
                let print = Unchecked(print)
                Task(executorPreference: loop.taskExecutor) { print.value() }
            }
        }
        #expect(words.hasPrefix("UVRunLoop \"worker\": running, "), "\(words)")
        #expect(words.contains(", in a handler (\(kind)) for "), "\(words)")
    }

    /// A handler is released when its call is over.
    @Test func aLoopPrintsThatItIsBetweenHandlers() throws {
        let words = try words(of: "worker") { loop, print in
            let print = Unchecked(print)
            loop.add(
                UVRunLoop.Timer(after: .zero) { [end = Farewell { print.value() }] _ in
                    withExtendedLifetime(end) {}
                }
            )
        }
        #expect(words.contains("running, between handlers for "), "\(words)")
    }

    @Test func aLoopThatDoesNotRunPrintsNoActivityOfItsLastRun() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                let loop = UVRunLoop.current
                loop.label = "idle"
                // Nothing was traced when this run began.
                let monitor = SharedBox<UVRunLoop.Monitor?>(nil)
                loop.add(
                    UVRunLoop.Timer(after: .zero) { _ in
                        monitor.value = try? UVRunLoop.Monitor(threshold: .seconds(60)) { _ in }
                    }
                )
                loop.add(UVRunLoop.Timer(after: .milliseconds(2)) { _ in })
                loop.run()
                precondition(
                    monitor.value != nil && "\(loop)".hasSuffix(": not running"),
                    "\(loop)"
                )
            }
        }
    }
}

/// Performs a body while a monitor watches all loops, with a threshold that none reaches.
private func withMonitor(_ body: () throws -> Void) throws {
    let monitor = try UVRunLoop.Monitor(threshold: .seconds(3_600), capturesStacks: false) { _ in }
    defer { monitor.stop() }
    try body()
}

/// What the loop of a new thread prints elsewhere during a moment of its run.
private func words(
    of label: String,
    _ setUp: @escaping @Sendable (UVRunLoop, @escaping () -> Void) -> Void
) throws -> String {
    let words = SharedBox("")
    try withMonitor {
        onAnotherThread {
            let loop = UVRunLoop.current
            loop.label = label
            setUp(loop) {
                onAnotherThread { words.value = "\(loop)" }
                loop.stop()
            }
            loop.run()
        }
    }
    return words.value
}
