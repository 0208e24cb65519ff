import Glibc
import Testing
import UVRunLoop

/// Whose loop is whose, calls from other threads, and the end of a thread.
@Suite(.timeLimit(.minutes(15))) struct ThreadTests {
    @Test func everyThreadHasOneLoopOfItsOwn() {
        let here = UVRunLoop.current
        #expect(UVRunLoop.current === here)
        let log = EventLog()
        onAnotherThread {
            let there = UVRunLoop.current
            log.note(there === here ? "shared" : "its own")
            log.note(UVRunLoop.current === there ? "same again" : "another")
        }
        #expect(log.entries == ["its own", "same again"])
    }

    @Test(arguments: DriverKind.allCases)
    func aPreparedLoopIsTheCurrentOne(kind: DriverKind) throws {
        try withLoop(kind) { loop, _ in
            #expect(UVRunLoop.current === loop)
            let prepared = try UVRunLoop.prepareCurrent()
            #expect(prepared === loop)
        }
    }

    @Test func mainIsTheSameFromEveryThreadAndNoOtherThreadsCurrent() {
        let main = UVRunLoop.main
        #expect(UVRunLoop.main === main)
        let log = EventLog()
        onAnotherThread {
            log.note(UVRunLoop.main === main ? "same main" : "another main")
            log.note(UVRunLoop.current === main ? "is main" : "is not main")
            log.note(UVRunLoop.main === main ? "same main" : "another main")
        }
        #expect(log.entries == ["same main", "is not main", "same main"])
    }

    @Test func aClosedLoopIsNotHandedToAThreadWhichReusesTheId() {
        let log = EventLog()
        let previous = SharedBox<[UVRunLoop]>([])
        for _ in 1...10 {
            onAnotherThread {
                let current = UVRunLoop.current
                if previous.value.contains(where: { $0 === current }) { log.note("an old loop") }
                previous.value.append(current)
                current.add(UVRunLoop.Timer(after: .zero) { _ in }, forMode: .default)
                if current.run(mode: .default, for: .seconds(60)) != .finished { log.note("?") }
            }
        }
        #expect(log.entries == [])
    }

    @Test func aThreadsSourcesAreCancelledOnItWhenItEnds() {
        let log = EventLog()
        onAnotherThread {
            let owner = pthread_self()
            let source = UVRunLoop.Source(
                cancel: { loop, mode in
                    let place = pthread_self() == owner ? "here" : "elsewhere"
                    log.note("cancel \(place) \(loop === UVRunLoop.current) \(mode.rawValue)")
                },
                perform: { _ in log.note("perform") }
            )
            UVRunLoop.current.add(source, forMode: UVRunLoop.Mode(rawValue: "A"))
            UVRunLoop.current.add(source, forMode: UVRunLoop.Mode(rawValue: "B"))
            source.signal()
            log.note("last line")
        }
        #expect(log.entries.first == "last line")
        let cancelled = ["cancel here true A", "cancel here true B"]
        #expect(log.entries.dropFirst().sorted() == cancelled)
    }

    @Test func aDyingThreadCannotRunItsLoopOrAddToIt() {
        let log = EventLog()
        onAnotherThread {
            let late = UVRunLoop.Source(sendablePerform: { _ in log.note("late") })
            late.signal()
            let source = UVRunLoop.Source(
                cancel: { loop, _ in
                    loop.add(late, forMode: .default)
                    log.note("contains \(loop.contains(late, forMode: .default))")
                    log.note("\(loop.run(mode: .default, for: .seconds(60)))")
                },
                perform: { _ in log.note("perform") }
            )
            UVRunLoop.current.add(source, forMode: .default)
        }
        #expect(log.entries == ["contains false", "finished"])
    }

    @Test func destructorsOfOtherThreadKeysStillSeeTheSameLoop() {
        let log = EventLog()
        onAnotherThread {
            var key = pthread_key_t()
            pthread_key_create(&key) { pointer in
                guard let pointer else { return }
                LastWish.fulfil(pointer)
            }
            let wish = LastWish(key: key, loop: UVRunLoop.current, log: log)
            pthread_setspecific(key, Unmanaged.passRetained(wish).toOpaque())
        }
        #expect(log.entries == Array(repeating: "same loop", count: LastWish.rounds))
    }

    @Test func callsToALoopWhoseThreadHasEndedDoNothing() {
        let log = EventLog()
        let handover = SharedBox<UVRunLoop?>(nil)
        onAnotherThread {
            handover.value = .current
            let timer = UVRunLoop.Timer(after: .seconds(60)) { _ in }
            UVRunLoop.current.add(timer, forMode: .default)
        }
        guard let loop = handover.value else { return }
        let source = UVRunLoop.Source(
            schedule: { _, _ in log.note("schedule") },
            cancel: { _, _ in log.note("cancel") },
            sendablePerform: { _ in log.note("perform") }
        )
        loop.add(source, forMode: .default)
        #expect(!loop.contains(source, forMode: .default))
        loop.remove(source, forMode: .default)
        let timer = UVRunLoop.Timer(after: .zero, sendableHandler: { _ in log.note("timer") })
        loop.add(timer, forMode: .default)
        #expect(!loop.contains(timer, forMode: .default))
        loop.perform { log.note("block") }
        loop.addCommonMode(UVRunLoop.Mode(rawValue: "other"))
        loop.wakeUp()
        loop.stop()
        #expect(!loop.isWaiting)
        #expect(loop.nextFireDate(forMode: .default) == nil)
        #expect(log.entries == [])
    }

    @Test func aTimerWhoseThreadHasEndedGoesOnInAnotherLoopWithTheDatesToCome() {
        let log = EventLog()
        let interval = Duration.milliseconds(5)
        let timer = UVRunLoop.Timer(
            after: .zero,
            interval: interval,
            sendableHandler: { timer in
                log.note("fired")
                if log.entries.count == 2 { UVRunLoop.current.stop() }
                if log.entries.count == 3 { timer.invalidate() }
            }
        )
        let first = timer.nextFireDate
        onAnotherThread {
            UVRunLoop.current.add(timer, forMode: .default)
            UVRunLoop.current.run(mode: .default, for: .seconds(60))
        }
        #expect(timer.isValid)
        #expect(timer.nextFireDate - first >= interval * 2)
        withLoop(.uv) { loop, _ in
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["fired", "fired", "fired"])
        }
    }

    @Test func anItemOfALoopWhoseThreadHasEndedCanStillBeInvalidated() {
        let log = EventLog()
        let source = UVRunLoop.Source(
            cancel: { _, _ in log.note("cancel") },
            sendablePerform: { _ in log.note("perform") }
        )
        onAnotherThread { UVRunLoop.current.add(source, forMode: .default) }
        #expect(log.entries == ["cancel"])
        source.signal()
        source.invalidate()
        #expect(!source.isValid)
        #expect(log.entries == ["cancel"])
    }

    @Test func aThreadThatEndsLeavesNoDescriptorBehind() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { endThreadsAndCountDescriptors() }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func callsFromAnotherThreadTakeEffectAtOnceForTheCaller(kind: DriverKind) {
        withLoop(kind) { loop, log in
            onAnotherThread {
                let mode = UVRunLoop.Mode(rawValue: "other")
                let source = UVRunLoop.Source(sendablePerform: { _ in })
                let timer = UVRunLoop.Timer(after: .seconds(60), sendableHandler: { _ in })
                let observer = UVRunLoop.Observer(
                    activities: .all,
                    sendableHandler: { _, _ in }
                )
                loop.add(source, forMode: mode)
                loop.add(timer, forMode: mode)
                loop.add(observer, forMode: mode)
                log.note("source \(loop.contains(source, forMode: mode))")
                log.note("timer \(loop.contains(timer, forMode: mode))")
                log.note("observer \(loop.contains(observer, forMode: mode))")
                log.note("mode \(loop.modes.contains(mode))")
                log.note("date \(loop.nextFireDate(forMode: mode) == timer.nextFireDate)")
                loop.remove(source, forMode: mode)
                timer.invalidate()
                observer.invalidate()
                log.note("source \(loop.contains(source, forMode: mode))")
                log.note("timer \(loop.contains(timer, forMode: mode))")
                log.note("observer \(loop.contains(observer, forMode: mode))")
            }
            let added = ["source true", "timer true", "observer true", "mode true", "date true"]
            #expect(log.entries == added + ["source false", "timer false", "observer false"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anItemInvalidatedByAnotherThreadIsNotCalledAgain(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in log.note("source") }
            let timer = UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }
            let observer = UVRunLoop.Observer(activities: .all) { _, _ in log.note("observer") }
            loop.add(source, forMode: .default)
            loop.add(timer, forMode: .default)
            loop.add(observer, forMode: .default)
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            source.signal()
            onAnotherThread {
                source.invalidate()
                timer.invalidate()
                observer.invalidate()
            }
            #expect(!source.isValid && !timer.isValid && !observer.isValid)
            #expect(loop.run(mode: .default, for: .milliseconds(3)) == .timedOut)
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSleepingLoopIsSeenWaitingAndStoppedByAnotherThread(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            log.observe(loop)
            #expect(!loop.isWaiting)
            elsewhere(after: .milliseconds(50), loop) {
                log.note(loop.isWaiting ? "waiting" : "awake")
                loop.stop()
            }
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            let story = [
                "entry", "beforeTimers", "beforeSources", "beforeWaiting", "waiting",
                "afterWaiting", "exit",
            ]
            #expect(log.entries == story)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopWhileNothingRunsIsNothing(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.stop()
            onAnotherThread { loop.stop() }
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func blocksFromManyThreadsAllRunOnTheLoopsThread(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let owner = pthread_self()
            for thread in 0..<4 {
                elsewhere(after: .milliseconds(1), loop) {
                    for number in 0..<50 {
                        loop.perform {
                            log.note(pthread_self() == owner ? "\(thread) \(number)" : "stranger")
                            if log.entries.count == 200 { loop.stop() }
                        }
                    }
                }
            }
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            for thread in 0..<4 {
                let own = log.entries.filter { $0.hasPrefix("\(thread) ") }
                #expect(own == (0..<50).map { "\(thread) \($0)" })
            }
        }
    }
}

/// Asks for the thread's loop in every round of the destructors of thread keys.
private final class LastWish {
    private let key: pthread_key_t
    private let loop: UVRunLoop
    private let log: EventLog
    /// How often the system goes through the destructors at most.
    ///
    /// The thread sanitizer has taken leave of the thread before the last round.
    static let rounds = isUnderThreadSanitizer ? 3 : 4
    private var roundsLeft = rounds

    init(key: pthread_key_t, loop: UVRunLoop, log: EventLog) {
        self.key = key
        self.loop = loop
        self.log = log
    }

    static func fulfil(_ pointer: UnsafeMutableRawPointer) {
        let wish = Unmanaged<LastWish>.fromOpaque(pointer).takeUnretainedValue()
        wish.log.note(UVRunLoop.current === wish.loop ? "same loop" : "a second loop")
        wish.roundsLeft -= 1
        if wish.roundsLeft > 0 {
            pthread_setspecific(wish.key, pointer)
        } else {
            Unmanaged<LastWish>.fromOpaque(pointer).release()
        }
    }
}

/// Compares the lowest free descriptor before and after a number of threads used their loops.
private func endThreadsAndCountDescriptors() {
    useALoopOnANewThread()
    let before = dup(0)
    close(before)
    for _ in 1...20 { useALoopOnANewThread() }
    let after = dup(0)
    close(after)
    precondition(before >= 0 && before == after, "Descriptors were left behind.")
}

private func useALoopOnANewThread() {
    onAnotherThread {
        let loop = UVRunLoop.current
        loop.add(UVRunLoop.Timer(after: .microseconds(300)) { _ in }, forMode: .default)
        loop.run(mode: .default, for: .seconds(60))
        loop.add(UVRunLoop.Timer(after: .seconds(60)) { _ in }, forMode: .default)
        loop.add(UVRunLoop.Source { _ in }, forMode: .default)
        loop.perform {}
    }
}
