import Glibc
import Testing
import UVRunLoop

/// When a custom source's `schedule` and `cancel` are called, and where.
@Suite(.timeLimit(.minutes(15))) struct SourceLifetimeTests {
    @Test(arguments: DriverKind.allCases)
    func scheduleIsCalledOncePerModeBeforeAddReturns(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = makeSource(log)
            loop.add(source, forMode: .default)
            log.note("added")
            loop.add(source, forMode: .default)
            log.note("added again")
            loop.add(source, forMode: UVRunLoop.Mode(rawValue: "other"))
            #expect(log.entries == ["schedule default", "added", "added again", "schedule other"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func cancelIsCalledOncePerModeBeforeRemoveReturns(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode(rawValue: "other")
            let source = makeSource(log)
            loop.add(source, forMode: .default)
            loop.add(source, forMode: other)
            log.clear()
            loop.remove(source, forMode: .default)
            log.note("removed")
            loop.remove(source, forMode: .default)
            log.note("removed again")
            loop.remove(source, forMode: other)
            #expect(source.isValid)
            #expect(log.entries == ["cancel default", "removed", "removed again", "cancel other"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func invalidationCancelsInEveryModeBeforeItReturns(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode(rawValue: "other")
            let source = makeSource(log)
            loop.add(source, forMode: .default)
            loop.add(source, forMode: other)
            log.clear()
            source.invalidate()
            #expect(Set(log.entries) == ["cancel default", "cancel other"])
            #expect(log.entries.count == 2)
            source.invalidate()
            #expect(log.entries.count == 2)
            #expect(!source.isValid)
            #expect(!loop.contains(source, forMode: .default))
            #expect(!loop.contains(source, forMode: other))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anInvalidSourceIsNotAdded(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = makeSource(log)
            source.signal()
            source.invalidate()
            loop.add(source, forMode: .default)
            #expect(!loop.contains(source, forMode: .default))
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func sourceInvalidatedInItsOwnPerformIsCancelledThereAndDoesNotFireAgain(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let cancel: @Sendable (UVRunLoop, UVRunLoop.Mode) -> Void = { _, _ in
                log.note("cancel")
            }
            let source = UVRunLoop.Source(cancel: cancel) { source in
                log.note("perform")
                source.signal()
                source.invalidate()
                log.note("perform end")
            }
            loop.add(source, forMode: .default)
            source.signal()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["perform", "cancel", "perform end"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aCommonSourceIsScheduledInEachConcreteModeAndInThoseThatJoinLater(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = makeSource(log)
            loop.addCommonMode(UVRunLoop.Mode(rawValue: "early"))
            loop.add(source, forMode: .common)
            #expect(Set(log.entries) == ["schedule default", "schedule early"])
            #expect(log.entries.count == 2)
            log.clear()
            loop.addCommonMode(UVRunLoop.Mode(rawValue: "late"))
            loop.addCommonMode(UVRunLoop.Mode(rawValue: "late"))
            #expect(log.entries == ["schedule late"])
            log.clear()
            loop.remove(source, forMode: .common)
            #expect(Set(log.entries) == ["cancel default", "cancel early", "cancel late"])
            #expect(log.entries.count == 3)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aCommonSourceAlreadyInAModeIsNotScheduledThereTwice(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = makeSource(log)
            loop.add(source, forMode: .default)
            loop.add(source, forMode: .common)
            #expect(log.entries == ["schedule default"])
            #expect(loop.contains(source, forMode: .common))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func scheduleAndCancelReceiveTheLoop(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source(
                schedule: { received, _ in log.note(received === loop ? "schedule" : "stranger") },
                cancel: { received, _ in log.note(received === loop ? "cancel" : "stranger") },
                perform: { _ in }
            )
            loop.add(source, forMode: .default)
            loop.remove(source, forMode: .default)
            #expect(log.entries == ["schedule", "cancel"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func scheduleAndCancelAreCalledOnTheThreadThatAddsOrRemoves(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let owner = pthread_self()
            let source = UVRunLoop.Source(
                schedule: { _, _ in
                    log.note(pthread_self() == owner ? "schedule here" : "schedule there")
                },
                cancel: { _, _ in
                    log.note(pthread_self() == owner ? "cancel here" : "cancel there")
                },
                sendablePerform: { _ in }
            )
            onAnotherThread {
                loop.add(source, forMode: .default)
                log.note("added")
                loop.remove(source, forMode: .default)
                log.note("removed")
            }
            loop.add(source, forMode: .default)
            onAnotherThread { source.invalidate() }
            let story = [
                "schedule there", "added", "cancel there", "removed", "schedule here",
                "cancel there",
            ]
            #expect(log.entries == story)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func scheduleAndCancelMayCallTheLoop(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let companion = UVRunLoop.Source(sendablePerform: { _ in log.note("companion") })
            let source = UVRunLoop.Source(
                schedule: { loop, mode in
                    loop.add(companion, forMode: mode)
                    companion.signal()
                    loop.perform { log.note("block") }
                    loop.wakeUp()
                    log.note("schedule \(loop.contains(companion, forMode: mode))")
                },
                cancel: { loop, mode in
                    loop.remove(companion, forMode: mode)
                    log.note("cancel \(loop.contains(companion, forMode: mode))")
                },
                perform: { _ in }
            )
            loop.add(source, forMode: .default)
            loop.run(mode: .default, for: .zero)
            loop.remove(source, forMode: .default)
            #expect(log.entries == ["schedule true", "block", "companion", "cancel false"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func sourceInSeveralLoopsIsCancelledInEachByInvalidation(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source(
                cancel: { received, _ in log.note(received === loop ? "here" : "there") },
                sendablePerform: { _ in }
            )
            loop.add(source, forMode: .default)
            onAnotherThread {
                UVRunLoop.current.add(source, forMode: .default)
                source.invalidate()
            }
            #expect(Set(log.entries) == ["here", "there"])
            #expect(log.entries.count == 2)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func whatAHandlerHoldsMayCallTheLoopWhenItIsReleased(kind: DriverKind) {
        let log = withLoop(kind) { loop, log in
            do {
                let farewell = farewell(to: loop, log)
                let source = UVRunLoop.Source { _ in withExtendedLifetime(farewell) {} }
                loop.add(source, forMode: .default)
                loop.remove(source, forMode: .default)
            }
            do {
                let farewell = farewell(to: loop, log)
                loop.perform { withExtendedLifetime(farewell) {} }
            }
            loop.run(mode: .default, for: .zero)
            return log
        }
        #expect(log.entries == ["released", "released"])
    }
}

/// Calls the loop when it is released, as whatever a closure holds may do.
private func farewell(to loop: UVRunLoop, _ log: EventLog) -> Farewell {
    Farewell {
        loop.wakeUp()
        loop.addCommonMode(UVRunLoop.Mode(rawValue: "from deinit"))
        log.note("released")
    }
}

/// A source that notes the modes in which it is scheduled and cancelled.
private func makeSource(_ log: EventLog) -> UVRunLoop.Source {
    UVRunLoop.Source(
        schedule: { _, mode in log.note("schedule \(name(of: mode))") },
        cancel: { _, mode in log.note("cancel \(name(of: mode))") },
        perform: { _ in log.note("perform") }
    )
}

private func name(of mode: UVRunLoop.Mode) -> String {
    mode == .default ? "default" : mode.rawValue
}
