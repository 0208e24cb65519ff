import Testing
import UVRunLoop

/// The captures of a timer that nothing else holds are released between its call and the next one
/// of the batch: what their release does to other timers holds for these.
@Suite(.timeLimit(.minutes(15))) struct TimerReleaseTests {
    /// Runs a batch of two timers, the first of which removes itself and is released.
    private func fireTwo(
        _ kind: DriverKind,
        interval: Duration?,
        _ release: @escaping @Sendable (UVRunLoop, UVRunLoop.Timer, EventLog) -> Void
    ) -> [String] {
        withLoop(kind) { loop, log in
            let second = UVRunLoop.Timer(after: .seconds(60), interval: .seconds(3600)) { timer in
                log.note("second")
                if log.count > 10 { timer.invalidate() }
            }
            func makeFirst() -> UVRunLoop.Timer {
                let end = Farewell {
                    log.note("released")
                    release(loop, second, log)
                }
                return UVRunLoop.Timer(after: .zero, interval: interval) { timer in
                    log.note("first")
                    loop.remove(timer, forMode: .default)
                    withExtendedLifetime(end) {}
                }
            }
            loop.add(makeFirst(), forMode: .default)
            second.nextFireDate = loop.now
            loop.add(second, forMode: .default)
            letTimePass(.milliseconds(1), loop)
            loop.run(mode: .default, for: .milliseconds(1))
            second.invalidate()
            return log.entries
        }
    }

    private static let intervals: [Duration?] = [nil, .milliseconds(500)]

    @Test(arguments: DriverKind.allCases, intervals)
    func aTimerThatTheReleaseInvalidatesIsNotCalled(kind: DriverKind, interval: Duration?) {
        let entries = fireTwo(kind, interval: interval) { _, second, _ in second.invalidate() }
        #expect(entries == ["first", "released"])
    }

    @Test(arguments: DriverKind.allCases, intervals)
    func aTimerThatTheReleaseRemovesIsNotCalled(kind: DriverKind, interval: Duration?) {
        let entries = fireTwo(kind, interval: interval) { loop, second, _ in
            loop.remove(second, forMode: .default)
        }
        #expect(entries == ["first", "released"])
    }

    @Test(arguments: DriverKind.allCases, intervals)
    func aTimerThatTheReleasePostponesIsNotCalledEarly(kind: DriverKind, interval: Duration?) {
        let entries = fireTwo(kind, interval: interval) { loop, second, _ in
            second.nextFireDate = loop.now + .seconds(1800)
        }
        #expect(entries == ["first", "released"])
    }

    @Test(arguments: DriverKind.allCases, intervals)
    func aRunInTheReleaseCallsTheTimerThatIsDue(kind: DriverKind, interval: Duration?) {
        let entries = fireTwo(kind, interval: interval) { loop, _, log in
            loop.run(mode: .default, for: .zero)
            log.note("ran")
        }
        #expect(entries == ["first", "released", "second", "ran"])
    }

    /// Another thread takes the first one out of the loop during its call, and drops it.
    @Test(arguments: DriverKind.allCases)
    func aTimerThatAnotherThreadDropsIsReleasedWhileNoneIsTaken(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let second = UVRunLoop.Timer(after: .seconds(60)) { _ in log.note("second") }
            func makeFirst() -> UVRunLoop.Timer {
                let end = Farewell {
                    log.note("released")
                    second.invalidate()
                }
                let box = SharedBox<UVRunLoop.Timer?>(nil)
                let first = UVRunLoop.Timer(after: .zero, interval: .milliseconds(500)) { _ in
                    log.note("first")
                    startThread {
                        guard let timer = box.value else { return }
                        box.value = nil
                        loop.remove(timer, forMode: .default)
                    }.join()
                    withExtendedLifetime(end) {}
                }
                box.value = first
                return first
            }
            loop.add(makeFirst(), forMode: .default)
            second.nextFireDate = loop.now
            loop.add(second, forMode: .default)
            letTimePass(.milliseconds(1), loop)
            loop.run(mode: .default, for: .milliseconds(1))
            #expect(log.entries == ["first", "released"])
        }
    }

    /// Another thread takes the first one out of the loop during the second one's call: its release
    /// might change what is next, but for the end of that call.
    @Test(arguments: DriverKind.allCases)
    func aTimerThatIsDroppedDuringTheNextCallIsReleasedAfterIt(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let box = SharedBox<UVRunLoop.Timer?>(nil)
            func addFirst() {
                let first = UVRunLoop.Timer(
                    after: .zero,
                    interval: .seconds(3600),
                    sendableHandler: { [end = Farewell { log.note("released") }] _ in
                        log.note("first")
                        withExtendedLifetime(end) {}
                    }
                )
                box.value = first
                loop.add(first, forMode: .default)
            }
            let second = UVRunLoop.Timer(after: .seconds(60)) { _ in
                startThread {
                    guard let timer = box.value else { return }
                    box.value = nil
                    loop.remove(timer, forMode: .default)
                }.join()
                log.note("second")
            }
            addFirst()
            second.nextFireDate = loop.now
            loop.add(second, forMode: .default)
            letTimePass(.milliseconds(1), loop)
            loop.run(mode: .default, for: .milliseconds(1))
            #expect(log.entries == ["first", "second", "released"])
        }
    }
}
