import Testing
import UVRunLoop
import UVRunLoopTesting

/// Runs in one mode after another: each knows what has changed since the one before.
@Suite(.timeLimit(.minutes(15))) struct SuccessiveRunTests {
    /// Makes two passes, each a run of its own, in a mode that holds only a keeper.
    private func runTwice(_ loop: UVRunLoop) {
        for _ in 0..<2 { #expect(loop.run(mode: .default, for: .zero) == .timedOut) }
    }

    /// Adds a source that keeps the default mode from being empty, and makes two passes in it.
    private func runTwiceWithAKeeper(_ loop: UVRunLoop) -> UVRunLoop.Source {
        let keeper = UVRunLoop.Source(sendablePerform: { _ in })
        loop.add(keeper, forMode: .default)
        runTwice(loop)
        return keeper
    }

    /// Changes a loop on the calling thread or on another one, and waits until that is done.
    private func change(
        on place: Place,
        _ body: @escaping @Sendable () -> Void
    ) {
        switch place {
        case .itsThread: body()
        case .anotherThread: startThread(body).join()
        }
    }

    enum Place: CaseIterable { case itsThread, anotherThread }

    @Test(arguments: DriverKind.allCases, Place.allCases)
    func aRunAfterTheLastSourceWasRemovedIsFinished(kind: DriverKind, place: Place) {
        withLoop(kind) { loop, _ in
            let keeper = runTwiceWithAKeeper(loop)
            change(on: place) { loop.remove(keeper, forMode: .default) }
            #expect(loop.run(mode: .default, for: .zero) == .finished)
            loop.add(keeper, forMode: .default)
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            change(on: place) { keeper.invalidate() }
            #expect(loop.run(mode: .default, for: .zero) == .finished)
        }
    }

    @Test(arguments: DriverKind.allCases, Place.allCases)
    func aRunAfterTheLastTimerWasInvalidatedIsFinished(kind: DriverKind, place: Place) {
        withLoop(kind) { loop, _ in
            let timer = UVRunLoop.Timer(after: .seconds(60), sendableHandler: { _ in })
            loop.add(timer, forMode: .default)
            runTwice(loop)
            change(on: place) { timer.invalidate() }
            #expect(loop.run(mode: .default, for: .zero) == .finished)
        }
    }

    @Test(arguments: DriverKind.allCases, Place.allCases)
    func anObserverThatWasAddedIsToldOfTheNextRun(kind: DriverKind, place: Place) {
        withLoop(kind) { loop, log in
            _ = runTwiceWithAKeeper(loop)
            let observer = UVRunLoop.Observer(
                activities: [.entry, .exit],
                sendableHandler: { _, activity in log.note(activity == .entry ? "entry" : "exit") }
            )
            change(on: place) { loop.add(observer, forMode: .default) }
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(log.entries == ["entry", "exit"])
            change(on: place) { loop.remove(observer, forMode: .default) }
            runTwice(loop)
            #expect(log.entries == ["entry", "exit"])
        }
    }

    /// A run that began as the one before it must not keep that one's observers.
    @Test(arguments: DriverKind.allCases)
    func anObserverThatWasRemovedAfterARunIsReleasedAtOnce(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            weak var released: UVRunLoop.Observer?
            do {
                let observer = UVRunLoop.Observer(activities: .all) { _, _ in }
                released = observer
                loop.add(observer, forMode: .default)
                runTwice(loop)
                loop.remove(observer, forMode: .default)
            }
            #expect(released == nil)
        }
    }

    @Test(arguments: DriverKind.allCases, Place.allCases)
    func aTimerThatWasAddedFiresInTheNextRun(kind: DriverKind, place: Place) {
        withLoop(kind) { loop, log in
            _ = runTwiceWithAKeeper(loop)
            let timer = UVRunLoop.Timer(after: .zero, sendableHandler: { _ in log.note("timer") })
            change(on: place) { loop.add(timer, forMode: .default) }
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(log.entries == ["timer"])
        }
    }

    @Test(arguments: DriverKind.allCases, Place.allCases)
    func aPortThatWasAddedIsServedInTheNextRun(kind: DriverKind, place: Place) {
        withLoop(kind) { loop, log in
            _ = runTwiceWithAKeeper(loop)
            let pipe = Pipe()
            pipe.write("x")
            change(on: place) {
                do {
                    let source = try UVRunLoop.DescriptorSource(
                        pipe.readEnd,
                        events: .readable,
                        sendableHandler: { source, _ in
                            log.note("readable")
                            source.invalidate()
                        }
                    )
                    loop.add(source, forMode: .default)
                } catch {
                    Issue.record(error)
                }
            }
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(log.entries == ["readable"])
        }
    }

    @Test(arguments: DriverKind.allCases, Place.allCases)
    func aModeThatBecameCommonServesBlocksAndItemsOfTheCommonModes(
        kind: DriverKind,
        place: Place
    ) {
        withLoop(kind) { loop, log in
            let mode = UVRunLoop.Mode(rawValue: "one of its own")
            let keeper = UVRunLoop.Source(sendablePerform: { _ in })
            loop.add(keeper, forMode: mode)
            let common = UVRunLoop.Source(sendablePerform: { _ in log.note("source") })
            loop.add(common, forMode: .common)
            loop.perform(inModes: [.common]) { log.note("block") }
            common.signal()
            for _ in 0..<2 { #expect(loop.run(mode: mode, for: .zero) == .timedOut) }
            #expect(log.entries.isEmpty)
            change(on: place) { loop.addCommonMode(mode) }
            #expect(loop.run(mode: mode, for: .zero) == .timedOut)
            #expect(log.entries == ["block", "source"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func whatChangesWhileAnotherModeRunsIsKnownToTheNextRunInTheMode(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode(rawValue: "the other one")
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            let changer = UVRunLoop.Source { _ in
                keeper.invalidate()
                log.note("changed")
            }
            loop.add(changer, forMode: other)
            runTwice(loop)
            changer.signal()
            #expect(loop.run(mode: other, for: .zero) == .timedOut)
            #expect(loop.run(mode: .default, for: .zero) == .finished)
            #expect(log.entries == ["changed"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func whatANestedRunChangesIsKnownToTheOuterOneAndToTheNext(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let keeper = runTwiceWithAKeeper(loop)
            loop.performLocally {
                #expect(loop.run(mode: .default, for: .zero) == .timedOut)
                log.observe(loop, [.beforeSources, .exit])
                keeper.invalidate()
                #expect(loop.run(mode: .default, for: .zero) == .finished)
                log.note("block")
            }
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(log.entries == ["block", "exit"])
            #expect(loop.run(mode: .default, for: .zero) == .finished)
        }
    }
}
