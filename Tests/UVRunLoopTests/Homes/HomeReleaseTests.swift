import Glibc
import Synchronization
import Testing

@testable import UVRunLoop

/// The captures of a handler that is bound to its thread are released on that thread.
@Suite(.timeLimit(.minutes(15))) struct HomeReleaseTests {
    /// Counts where captures are released.
    final class Count: Sendable {
        let live = Atomic<Int>(0)
        let elsewhere = Atomic<Int>(0)
        let home = ThreadIdentity.current

        /// Waits until nothing is captured any more.
        fileprivate func awaitNone() -> Bool {
            for _ in 0..<50_000 {
                if live.load(ordering: .acquiring) == 0 { return true }
                usleep(200)
            }
            return false
        }
    }

    /// An object that the handlers capture; not `Sendable`.
    final class Capture {
        private let count: Count
        var uses = 0

        init(_ count: Count) {
            self.count = count
            count.live.add(1, ordering: .relaxed)
        }

        deinit {
            if ThreadIdentity.current != count.home { count.elsewhere.add(1, ordering: .relaxed) }
            count.live.subtract(1, ordering: .releasing)
        }
    }

    /// An item, known by what can be done with it.
    struct Item: Sendable {
        let add: @Sendable (UVRunLoop) -> Void
        let invalidate: @Sendable () -> Void
    }

    enum Kind: CaseIterable, Sendable {
        case timer, observer, source, port, descriptor, request

        /// Makes an item whose handler captures something, and nothing else holds that.
        fileprivate func make(_ count: Count, _ pipe: Pipe) throws -> Item {
            let capture = Capture(count)
            switch self {
            case .timer:
                let timer = UVRunLoop.Timer(after: .seconds(3600)) { _ in capture.uses += 1 }
                return Item(add: { $0.add(timer, forMode: .default) }, invalidate: timer.invalidate)
            case .observer:
                let observer = UVRunLoop.Observer(activities: .all) { _, _ in capture.uses += 1 }
                return Item(
                    add: { $0.add(observer, forMode: .default) },
                    invalidate: observer.invalidate
                )
            case .source:
                let source = UVRunLoop.Source { _ in capture.uses += 1 }
                return Item(
                    add: { $0.add(source, forMode: .default) },
                    invalidate: source.invalidate
                )
            case .port:
                let port = UVRunLoop.Port { _, _ in capture.uses += 1 }
                return Item(add: { $0.add(port, forMode: .default) }, invalidate: port.invalidate)
            case .descriptor:
                let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                    _,
                    _ in capture.uses += 1
                }
                return Item(
                    add: { $0.add(source, forMode: .default) },
                    invalidate: source.invalidate
                )
            case .request:
                let request = UVRunLoop.current.requestPerformLocally(after: .seconds(3600)) {
                    capture.uses += 1
                }
                return Item(add: { _ in }, invalidate: { request.cancel() })
            }
        }
    }

    /// Has a thread make items and run its loop, and gives them to another one.
    private func exchange(
        _ kind: Kind,
        _ number: Int,
        adds: Bool,
        with other: @escaping @Sendable (Item) -> Void
    ) throws -> Count {
        let result = Guarded<Count?>(nil)
        let items = Guarded<[Item]>([])
        let isDone = Atomic<Bool>(false)
        let pipe = Pipe()
        try withHelpers { resultOf in
            let home = startThread {
                let loop = UVRunLoop.current
                let count = Count()
                result.withLock { $0 = count }
                let keeper = UVRunLoop.Source { _ in }
                loop.add(keeper, forMode: .default)
                for _ in 0..<number {
                    resultOf {
                        let item = try kind.make(count, pipe)
                        if adds { item.add(loop) }
                        items.withLock { $0.append(item) }
                    }
                    loop.run(mode: .default, for: .zero)
                }
                isDone.store(true, ordering: .releasing)
                while count.live.load(ordering: .acquiring) > 0 {
                    loop.run(mode: .default, for: .milliseconds(1))
                }
                keeper.invalidate()
            }
            while true {
                let mayBeLast = isDone.load(ordering: .acquiring)
                let taken = items.withLock { takeAll(&$0) }
                if taken.isEmpty, mayBeLast { break }
                for item in taken { other(item) }
            }
            home.join()
        }
        return try #require(result.withLock { $0 })
    }

    /// Collects the first error of a thread.
    private func withHelpers(
        _ body: (@escaping @Sendable (() throws -> Void) -> Void) -> Void
    ) throws {
        let failure = Guarded<(any Error)?>(nil)
        body { work in
            do { try work() } catch { failure.withLock { $0 = error } }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    @Test(arguments: Kind.allCases)
    func anItemThatAnotherThreadInvalidatesReleasesItsCaptureAtHome(kind: Kind) throws {
        let count = try exchange(kind, 2_000, adds: true) { $0.invalidate() }
        #expect(count.elsewhere.load(ordering: .relaxed) == 0)
        #expect(count.live.load(ordering: .relaxed) == 0)
    }

    @Test(arguments: Kind.allCases)
    func anItemInNoLoopThatAnotherThreadInvalidatesReleasesItsCaptureAtHome(kind: Kind) throws {
        let count = try exchange(kind, 2_000, adds: false) { $0.invalidate() }
        #expect(count.elsewhere.load(ordering: .relaxed) == 0)
        #expect(count.live.load(ordering: .relaxed) == 0)
    }

    @Test(arguments: Kind.allCases.filter { $0 != .request })
    func anItemWhoseLastReferenceGoesElsewhereReleasesItsCaptureAtHome(kind: Kind) throws {
        let count = try exchange(kind, 2_000, adds: false) { _ in }
        #expect(count.elsewhere.load(ordering: .relaxed) == 0)
        #expect(count.live.load(ordering: .relaxed) == 0)
    }

    /// Nobody is told, and no pass is made: the release happens in step 7.
    @Test(arguments: Kind.allCases)
    func aSleepingLoopReleasesAtOnce(kind: Kind) throws {
        let shared = Guarded<(count: Count, item: Item, loop: UVRunLoop)?>(nil)
        let steps = Atomic<Int>(0)
        let pipe = Pipe()
        try withHelpers { resultOf in
            let home = startThread {
                resultOf {
                    let (loop, count) = (UVRunLoop.current, Count())
                    let keeper = UVRunLoop.Source { _ in }
                    loop.add(keeper, forMode: .default)
                    let observer = UVRunLoop.Observer(activities: .all) { _, _ in
                        steps.add(1, ordering: .relaxed)
                    }
                    loop.add(observer, forMode: .default)
                    let item = try kind.make(count, pipe)
                    item.add(loop)
                    shared.withLock { $0 = (count, item, loop) }
                    loop.run()
                    keeper.invalidate()
                }
            }
            while shared.withLock({ $0?.loop.isWaiting }) != true { usleep(100) }
            guard let (count, item, loop) = shared.withLock({ exchangeValue(&$0) }) else { return }
            let before = steps.load(ordering: .relaxed)
            item.invalidate()
            #expect(count.awaitNone())
            #expect(count.elsewhere.load(ordering: .relaxed) == 0)
            #expect(steps.load(ordering: .relaxed) == before)
            loop.stop()
            home.join()
        }
    }

    /// Although the run ends at once, because the mode is empty.
    @Test func whatIsPostedBeforeARunEndsIsReleasedByIt() {
        withLoop(.manual) { loop, _ in
            let count = Count()
            let timer = { [capture = Capture(count)] in
                UVRunLoop.Timer(after: .seconds(60)) { _ in capture.uses += 1 }
            }()
            loop.add(timer, forMode: .default)
            virtualClock(of: loop)?.after(.seconds(1)) {
                loop.wakeUp()
                timer.invalidate()
            }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(count.live.load(ordering: .acquiring) == 0)
            #expect(count.elsewhere.load(ordering: .acquiring) == 0)
        }
    }

    @Test func whatAReleaseQueuesEndsTheSleep() {
        let shared = Guarded<(timer: UVRunLoop.Timer, loop: UVRunLoop)?>(nil)
        let log = EventLog()
        let home = startThread {
            let loop = UVRunLoop.current
            let farewell = Farewell {
                log.note("released")
                loop.perform {
                    log.note("block")
                    loop.stop()
                }
            }
            let timer = UVRunLoop.Timer(after: .seconds(3600)) { _ in
                withExtendedLifetime(farewell) {}
            }
            let keeper = UVRunLoop.Timer(after: .seconds(3600)) { _ in }
            loop.add(timer, forMode: .default)
            loop.add(keeper, forMode: .default)
            shared.withLock { $0 = (timer, loop) }
            _ = consume farewell
            loop.run()
            log.note("stopped")
            keeper.invalidate()
        }
        while shared.withLock({ $0?.loop.isWaiting }) != true { usleep(100) }
        shared.withLock { exchangeValue(&$0) }?.timer.invalidate()
        home.join()
        #expect(log.entries == ["released", "block", "stopped"])
    }

    @Test func aThreadThatRunsNoLoopReleasesWhenItEnds() throws {
        let shared = Guarded<(count: Count, item: Item)?>(nil)
        let mayEnd = Atomic<Bool>(false)
        let pipe = Pipe()
        try withHelpers { resultOf in
            let home = startThread {
                resultOf {
                    let count = Count()
                    let item = try Kind.timer.make(count, pipe)
                    shared.withLock { $0 = (count, item) }
                }
                while !mayEnd.load(ordering: .acquiring) { usleep(100) }
            }
            while shared.withLock({ $0 == nil }) { usleep(100) }
            guard let (count, item) = shared.withLock({ exchangeValue(&$0) }) else { return }
            item.invalidate()
            #expect(count.live.load(ordering: .relaxed) == 1)
            mayEnd.store(true, ordering: .releasing)
            home.join()
            #expect(count.live.load(ordering: .relaxed) == 0)
            #expect(count.elsewhere.load(ordering: .relaxed) == 0)
        }
    }

    @Test(arguments: Kind.allCases.filter { $0 != .request })
    func whatOutlivesItsThreadIsReleasedWhereItIsDropped(kind: Kind) throws {
        let shared = Guarded<(count: Count, item: Item)?>(nil)
        let pipe = Pipe()
        try withHelpers { resultOf in
            let home = startThread {
                resultOf {
                    let count = Count()
                    let item = try kind.make(count, pipe)
                    shared.withLock { $0 = (count, item) }
                }
            }
            home.join()
            guard let (count, item) = shared.withLock({ exchangeValue(&$0) }) else { return }
            item.invalidate()
            #expect(count.live.load(ordering: .relaxed) == 0)
        }
    }
}

/// Takes what is there.
private func exchangeValue<Value>(_ value: inout Value?) -> Value? { value.take() }

private func takeAll<Element>(_ values: inout [Element]) -> [Element] {
    defer { values = [] }
    return values
}
