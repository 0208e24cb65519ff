import Glibc
import Testing

@testable import UVRunLoop

/// Several threads add, remove and invalidate the same item at the same time.
@Suite(.timeLimit(.minutes(15))) struct ItemOwnerTests {
    /// Brings threads together, once per round.
    private final class Meeting: Sendable {
        private let size: Int
        private let arrivals = Counter()

        init(of size: Int) { self.size = size }

        /// Waits until every thread has come as often as the caller, and then for a short delay, so
        /// that the threads' calls meet at different points.
        func arrive(_ round: Int, delay: Int = 0) {
            arrivals.add()
            while arrivals.value < size * round { sched_yield() }
            for _ in 0..<delay { _ = arrivals.value }
        }
    }

    /// It may be serving another port again and again, as long as nothing is announced.
    @Test func theLoopToWhichAPortHasMovedIsToldOfItsNextMessageWhenTheCallEnds() {
        let host = LoopOnAThread()
        let count = SharedBox<UInt64>(.max)
        withLoop { loop in
            let port = UVRunLoop.Port(sendableHandler: { port, _ in
                guard UVRunLoop.current === loop else { return }
                loop.remove(port, forMode: .default)
                host.loop.add(port, forMode: .default)
                count.value = host.loop.waker.announcementCount
            })
            loop.add(port, forMode: .default)
            for _ in 1...2 { _ = port.send(UVRunLoop.PortMessage()) }
            loop.run(mode: .default, for: .zero)
            #expect(host.loop.waker.announcementCount > count.value)
            port.invalidate()
        }
        host.stop()
        host.join()
    }

    /// The message comes before the port is added or after that, and is announced in either case.
    @Test(arguments: [false, true])
    func aMessageSentWhileItsPortIsAddedIsDelivered(addsElsewhere: Bool) {
        let rounds = 4_000
        let meeting = Meeting(of: 2)
        let current = Guarded<UVRunLoop.Port?>(nil)
        let keeper = UVRunLoop.Source(sendablePerform: { _ in })
        withLoop { loop in
            loop.add(keeper, forMode: .default)
            let act = { @Sendable (adds: Bool) in
                guard let port = current.withLock(\.self) else { return }
                if adds {
                    loop.add(port, forMode: .default)
                } else {
                    _ = port.send(UVRunLoop.PortMessage(components: []))
                }
            }
            let thread = startThread {
                for round in 1...rounds {
                    meeting.arrive(2 * round - 1, delay: addsElsewhere ? 0 : round % 200)
                    act(addsElsewhere)
                    meeting.arrive(2 * round)
                }
            }
            withHangGuard {
                for round in 1...rounds {
                    let port = UVRunLoop.Port(sendableHandler: { port, _ in
                        port.invalidate()
                        loop.stop()
                    })
                    current.withLock { $0 = port }
                    meeting.arrive(2 * round - 1, delay: addsElsewhere ? round % 200 : 0)
                    act(!addsElsewhere)
                    let result = loop.run(mode: .default, for: .seconds(60))
                    precondition(result == .stopped, "A message was lost.")
                    meeting.arrive(2 * round)
                }
            }
            thread.join()
        }
    }

    /// The capture of the handler uses the loop when it is released, so no lock may be held then.
    @Test func anObserverThatTwoThreadsInvalidateIsReleasedOnceAndNotCalledAgain() {
        let rounds = 500
        let meeting = Meeting(of: 3)
        let current = Guarded<UVRunLoop.Observer?>(nil)
        let (calls, releases, ends) = (Counter(), Counter(), Counter())
        let keeper = UVRunLoop.Source(sendablePerform: { _ in })
        withLoop { loop in
            loop.add(keeper, forMode: .default)
            let threads = (0..<2).map { _ in
                startThread {
                    for round in 1...rounds {
                        meeting.arrive(2 * round - 1)
                        let observer = current.withLock(\.self)
                        observer?.invalidate()
                        let isThere = observer.map { loop.contains($0, forMode: .default) }
                        precondition(isThere == false && observer?.isValid == false)
                        ends.add()
                        meeting.arrive(2 * round)
                    }
                }
            }
            withHangGuard {
                for round in 1...rounds {
                    let farewell = Farewell {
                        precondition(loop.contains(keeper, forMode: .default))
                        releases.add()
                    }
                    let observer = UVRunLoop.Observer(activities: .all) { _, _ in
                        withExtendedLifetime(farewell) { _ = calls.add() }
                    }
                    loop.add(observer, forMode: .default)
                    current.withLock { $0 = observer }
                    meeting.arrive(2 * round - 1)
                    while ends.value < 2 * round { loop.run(mode: .default, for: .zero) }
                    let count = calls.value
                    loop.run(mode: .default, for: .zero)
                    precondition(calls.value == count, "An invalid observer was called.")
                    meeting.arrive(2 * round)
                }
            }
            threads.forEach { $0.join() }
            #expect(releases.value == rounds)
        }
    }

    /// It is removed by whichever thread comes first, and free when either call has returned.
    @Test func anItemThatAnotherThreadRemovesMayBeAddedAgainAndToAnotherLoop() throws {
        let pipe = Pipe()
        pipe.write("x")
        let host = LoopOnAThread()
        let timer = UVRunLoop.Timer(after: .zero, interval: .zero, sendableHandler: { _ in })
        let observer = UVRunLoop.Observer(activities: .all, sendableHandler: { _, _ in })
        let port = UVRunLoop.Port(sendableHandler: { _, _ in })
        let source = try UVRunLoop.DescriptorSource(
            pipe.readEnd,
            events: .readable,
            sendableHandler: { _, _ in }
        )
        let remove = { @Sendable (loop: UVRunLoop) in
            loop.remove(timer, forMode: .default)
            loop.remove(observer, forMode: .default)
            loop.remove(port, forMode: .default)
            loop.remove(source, forMode: .default)
        }
        withLoop { loop in
            let isOver = Signal()
            let thread = startThread {
                while !isOver.hasCome {
                    remove(loop)
                    remove(host.loop)
                }
            }
            let add = { (loop: UVRunLoop) in
                loop.add(timer, forMode: .default)
                loop.add(observer, forMode: .default)
                loop.add(port, forMode: .default)
                loop.add(source, forMode: .default)
            }
            withHangGuard {
                for round in 0..<2_000 {
                    for other in [loop, host.loop] {
                        add(other)
                        add(other)
                        if round % 8 == 0 { loop.run(mode: .default, for: .zero) }
                        remove(other)
                        let isAway =
                            !other.contains(timer, forMode: .default)
                            && !other.contains(observer, forMode: .default)
                            && !other.contains(port, forMode: .default)
                            && !other.contains(source, forMode: .default)
                        precondition(isAway, "An item was not removed.")
                    }
                }
            }
            isOver.send()
            thread.join()
            add(loop)
            #expect(loop.contains(timer, forMode: .default))
            #expect(loop.contains(observer, forMode: .default))
            #expect(loop.contains(port, forMode: .default))
            #expect(loop.contains(source, forMode: .default))
        }
        host.stop()
        host.join()
    }
}
