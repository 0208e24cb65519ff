import BenchSupport
import CFSupport
import CoreFoundation
import Foundation
import NIOCore
import NIOPosix
import RawUV
import Results
import UVRunLoop

extension Job {
    /// One wake-up each way between two loops on two threads.
    ///
    /// Dispatch is left out: its queues share one thread of a pool, so nobody is woken.
    static func pingPong(_ effort: Effort) -> Job {
        let count = effort.choose(3_000, quick: 1_000)
        return Job(
            rows: [Row(name: "pingpong", title: "A wake-up each way between two loops")],
            // Where the scheduler puts the threads decides a round, so it takes many.
            rounds: effort.choose(20, quick: 6),
            contenders: [
                Contender(.uvRunLoop) { _ in [Rally.ours(count, among: 1)] },
                Contender(.libuv) { _ in
                    [Double(raw_uv_ping_pong(CInt(count))) / Double(count)]
                },
                Contender(.cfRunLoop) { _ in [Rally.coreFoundation(count, among: 1)] },
                Contender(.nio) { _ in [Rally.nio(count, among: 1)] },
            ]
        )
    }

    /// The same where both loops share a core, and in processor time: what the one that wakes does
    /// after the kernel has switched to the other costs nobody a wait, but it costs.
    static func wakeOnOneCore(_ effort: Effort) -> Job {
        let count = effort.choose(20_000, quick: 2_000)
        return Job(
            rows: [
                Row(
                    name: "wake.onecore",
                    title: "A wake-up each way between two loops on one core, in processor time"
                )
            ],
            contenders: [
                Contender(.uvRunLoop) { _ in [OneCore.time(count) { Rally.ours($0, among: 1) }] },
                Contender(.libuv) { _ in
                    [OneCore.time(count) { Double(raw_uv_ping_pong(CInt($0))) }]
                },
                Contender(.cfRunLoop) { _ in
                    [OneCore.time(count) { Rally.coreFoundation($0, among: 1) }]
                },
                Contender(.nio) { _ in [OneCore.time(count) { Rally.nio($0, among: 1) }] },
            ]
        )
    }

    /// One wake-up each way between a loop and one after the other of n sleeping ones.
    static func growingThreads(_ effort: Effort) -> Job {
        let count = effort.choose(10_000, quick: 1_000)
        return Job(
            rows: [Row(name: "growth.threads", title: "A wake-up each way with one of n threads")],
            sizes: effort.choose([1, 10, 100, 1_000], quick: [1, 100, 1_000]),
            sizeName: "threads",
            descriptorsEach: 5,
            contenders: [
                Contender(.uvRunLoop) { [Rally.ours(count, among: $0)] },
                Contender(.libuv) { threads in
                    let time = raw_uv_wake_one_thread_of(CInt(threads), CInt(count))
                    return [Double(time) / Double(count)]
                },
                Contender(.cfRunLoop, upTo: 1_000) { [Rally.coreFoundation(count, among: $0)] },
                Contender(.nio) { [Rally.nio(count, among: $0)] },
            ]
        )
    }
}

/// A loop that wakes one of others and is woken back, again and again.
private enum Rally {
    static func ours(_ trips: Int, among threads: Int) -> Double {
        let loop = UVRunLoop.current
        let partners = Partners<(UVRunLoop, UVRunLoop.Source)>(threads)
        let serve = UVRunLoop.Source { _ in
            guard let (other, source) = partners.next(of: trips) else { return loop.stop() }
            source.signal()
            other.wakeUp()
        }
        loop.add(serve, forMode: .default)
        defer { serve.invalidate() }
        partners.start { ready in
            let own = UVRunLoop.current
            let answer = UVRunLoop.Source { _ in
                serve.signal()
                loop.wakeUp()
            }
            own.add(answer, forMode: .default)
            ready((own, answer))
            own.run()
        }
        let taken = time {
            serve.signal()
            loop.run()
        }
        partners.end { $0.0.perform { UVRunLoop.current.stop() } }
        return taken / Double(trips)
    }

    static func coreFoundation(_ trips: Int, among threads: Int) -> Double {
        let loop = CF.loop
        let partners = Partners<(CFRunLoop, CFRunLoopSource)>(threads)
        let serve = CF.source {
            guard let (other, source) = partners.next(of: trips) else { return CFRunLoopStop(loop) }
            CFRunLoopSourceSignal(source)
            CFRunLoopWakeUp(other)
        }
        CFRunLoopAddSource(loop, serve, CF.defaultMode)
        defer { CFRunLoopSourceInvalidate(serve) }
        let home = Handover((loop, serve))
        partners.start { ready in
            let answer = CF.source {
                CFRunLoopSourceSignal(home.value.1)
                CFRunLoopWakeUp(home.value.0)
            }
            CFRunLoopAddSource(CF.loop, answer, CF.defaultMode)
            ready((CF.loop, answer))
            CFRunLoopRun()
        }
        let taken = time {
            CFRunLoopSourceSignal(serve)
            CFRunLoopRun()
        }
        partners.end { partner in
            CFRunLoopPerformBlock(partner.0, CF.defaultMode) {
                CFRunLoopStop(CFRunLoopGetCurrent())
            }
            CFRunLoopWakeUp(partner.0)
        }
        return taken / Double(trips)
    }

    static func nio(_ trips: Int, among threads: Int) -> Double {
        // All of them begin here, where the caller may have bound itself to a core.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads + 1)
        let loops = Array(group.makeIterator()).map { $0 as any EventLoop }
        let (loop, others) = (loops[threads], Array(loops.dropLast()))
        let isDone = Latch()
        @Sendable func serve(_ trip: Int) {
            guard trip < trips else { return isDone.open() }
            others[trip % threads].execute { loop.execute { serve(trip + 1) } }
        }
        let taken = time {
            loop.execute { serve(0) }
            isDone.wait()
        }
        do { try group.syncShutdownGracefully() } catch { fail("SwiftNIO: \(error)") }
        return taken / Double(trips)
    }
}

/// The other threads of a rally.
private final class Partners<Address>: @unchecked Sendable {
    private var threads: [PosixThread] = []
    private var addresses: [Address?]
    private var trip = 0

    init(_ count: Int) { addresses = Array(repeating: nil, count: count) }

    /// Whom to wake next; `nil` after as many trips as there are to be.
    func next(of trips: Int) -> Address? {
        guard trip < trips else { return nil }
        defer { trip += 1 }
        return addresses[trip % addresses.count]
    }

    /// Starts the threads; each says where it can be reached, and runs its loop.
    func start(_ body: @escaping @Sendable (_ ready: (Address) -> Void) -> Void) {
        for index in addresses.indices {
            let isReady = Latch()
            threads.append(
                PosixThread(stackSize: 256 * 1024) { [self] in
                    body { address in
                        addresses[index] = address
                        isReady.open()
                    }
                }
            )
            isReady.wait()
        }
    }

    /// Tells each thread to end, and waits for it.
    func end(_ stop: (Address) -> Void) {
        for address in addresses { if let address { stop(address) } }
        threads.forEach { $0.join() }
        // Handlers hold this object, and it holds what holds them.
        addresses = []
    }
}
