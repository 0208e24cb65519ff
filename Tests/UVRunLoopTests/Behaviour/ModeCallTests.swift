import Testing
import UVRunLoop

/// Calls of `schedule` and `cancel` that come due while another one is being made.
@Suite(.timeLimit(.minutes(15))) struct ModeCallTests {
    private typealias Source = UVRunLoop.Source
    private let other = UVRunLoop.Mode("mode calls, other")

    /// A source that notes its calls, and does something in `schedule`.
    private func source(
        _ log: EventLog,
        _ name: String = "",
        during action: @escaping @Sendable (Source?) -> Void
    ) -> Source {
        let made = SharedBox<Source?>(nil)
        let source = Source(
            schedule: { _, mode in
                log.note("\(name)schedule \(mode.rawValue)")
                action(made.value)
                log.note("\(name)scheduled \(mode.rawValue)")
            },
            cancel: { _, mode in log.note("\(name)cancel \(mode.rawValue)") },
            sendablePerform: { _ in }
        )
        made.value = source
        return source
    }

    @Test func aSourceThatIsInvalidatedByScheduleIsCancelledAfterIt() {
        withLoop { loop in
            let log = EventLog()
            let source = source(log) { $0?.invalidate() }
            loop.add(source, forMode: other)
            let name = other.rawValue
            #expect(log.entries == ["schedule \(name)", "scheduled \(name)", "cancel \(name)"])
        }
    }

    /// So an object may own the source that calls it.
    @Test(arguments: 0...3)
    func anInvalidSourceReleasesBothHandlersAfterTheLastCall(step: Int) {
        withLoop { loop in
            let log = EventLog()
            let made = SharedBox<Source?>(nil)
            let source = Source(
                schedule: { [end = Farewell { log.note("end 1") }] _, _ in
                    if step == 2 { made.value?.invalidate() }
                    withExtendedLifetime(end) {}
                },
                cancel: { [end = Farewell { log.note("end 2") }] _, _ in
                    if step == 3 { made.value?.invalidate() }
                    log.note("cancel")
                    withExtendedLifetime(end) {}
                },
                sendablePerform: { _ in }
            )
            made.value = source
            if step > 0 { loop.add(source, forMode: other) }
            if step == 3 { loop.remove(source, forMode: other) }
            source.invalidate()
            #expect(!source.isValid)
            #expect(log.entries.first == (step > 0 ? "cancel" : "end 1"))
            #expect(Set(log.entries).subtracting(["cancel"]) == ["end 1", "end 2"])
            #expect(log.entries.count == (step > 0 ? 3 : 2))
        }
    }

    /// Those modes included whose call has not come yet.
    @Test func inEachCommonModeCancelComesAfterSchedule() {
        withLoop { loop in
            let log = EventLog()
            loop.addCommonMode(other)
            let source = source(log) { $0?.invalidate() }
            loop.add(source, forMode: .common)
            for mode in [other, .default] {
                let name = mode.rawValue
                let calls = log.entries.filter { $0.hasSuffix(" \(name)") }
                #expect(calls == ["schedule \(name)", "scheduled \(name)", "cancel \(name)"])
            }
        }
    }

    @Test func aSourceThatScheduleTakesOutAndPutsBackIsScheduledAgain() {
        withLoop { loop in
            let log = EventLog()
            let isFirst = SharedBox(true)
            let mode = other
            let source = source(log) { source in
                guard let source, isFirst.value else { return }
                isFirst.value = false
                loop.remove(source, forMode: mode)
                loop.add(source, forMode: mode)
            }
            loop.add(source, forMode: mode)
            #expect(
                log.entries.map { $0.prefix { $0 != " " } } == [
                    "schedule", "scheduled", "cancel", "schedule", "scheduled",
                ]
            )
            #expect(loop.contains(source, forMode: mode))
            source.invalidate()
        }
    }

    @Test func aThreadThatInvalidatesASourceDuringScheduleLeavesTheCallToTheOtherThread() {
        withLoop { loop in
            let log = EventLog()
            let (hasBegun, goOn) = (Signal(), Signal())
            let source = source(log) { _ in
                hasBegun.send()
                goOn.wait()
            }
            let thread = startThread { loop.add(source, forMode: .default) }
            hasBegun.wait()
            source.invalidate()
            #expect(log.entries.count == 1)
            goOn.send()
            thread.join()
            #expect(
                log.entries.map { $0.prefix { $0 != " " } } == [
                    "schedule", "scheduled", "cancel",
                ]
            )
        }
    }

    /// Of two sources that join a new common mode, the first takes the other one out again.
    @Test(arguments: [true, false])
    func aSourceThatIsTakenOutBeforeItsCallIsNeitherScheduledNorCancelled(staysValid: Bool) {
        withLoop { loop in
            let log = EventLog()
            let all = SharedBox<[Source]>([])
            let mode = other
            let takeOut: @Sendable (Source?) -> Void = { source in
                for other in all.value where other !== source {
                    staysValid ? loop.remove(other, forMode: mode) : other.invalidate()
                }
            }
            let sources = [source(log, "1 ", during: takeOut), source(log, "2 ", during: takeOut)]
            for source in sources { loop.add(source, forMode: .common) }
            log.clear()
            all.value = sources
            loop.addCommonMode(mode)
            let first = log.entries.first?.prefix(1) ?? ""
            let calls = log.entries.filter { $0.hasSuffix(mode.rawValue) }
            #expect(
                calls == [
                    "\(first) schedule \(mode.rawValue)", "\(first) scheduled \(mode.rawValue)",
                ]
            )
            sources.forEach { $0.invalidate() }
        }
    }
}
