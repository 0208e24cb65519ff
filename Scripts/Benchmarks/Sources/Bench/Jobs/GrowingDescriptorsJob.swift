import BenchSupport
import Dispatch
import NIOCore
import NIOPosix
import RawUV
import UVRunLoop

extension Job {
    /// n descriptors are watched, and become ready one after the other in a scattered order.
    static func growingDescriptors(_ effort: Effort) -> Job {
        let count = effort.choose(50_000, quick: 10_000)
        return Job(
            rows: [
                Row(name: "growth.descriptors", title: "An event of one of n watched descriptors")
            ],
            sizes: effort.choose([1, 10, 100, 1_000, 8_000], quick: [1, 100, 8_000]),
            sizeName: "descriptors",
            descriptorsEach: 2,
            contenders: [
                Contender(.uvRunLoop) { [ourEvents(Relay($0), count)] },
                Contender(.libuv) { [libuvEvents(Relay($0), count)] },
                Contender(.nio) { [nioEvents(Relay($0), count)] },
                Contender(.dispatch) { [dispatchEvents(Relay($0), count)] },
            ]
        )
    }
}

/// Descriptors of which each makes the next one ready.
///
/// Only the thread that handles events touches it.
private final class Relay: @unchecked Sendable {
    let descriptors: EventDescriptors
    let order: [Int32]
    private var next = 0

    init(_ count: Int) {
        descriptors = EventDescriptors(count)
        order = Scatter.order(count, seed: 7)
    }

    func passOn() {
        notify(descriptors.all[Int(order[next])])
        next = (next + 1) % order.count
    }
}

private func ourEvents(_ relay: Relay, _ count: Int) -> Double {
    let loop = UVRunLoop.current
    let tally = Tally(count) { loop.stop() }
    let sources = relay.descriptors.all.map { descriptor in
        ourWatch(descriptor) { descriptor in
            forget(descriptor)
            tally.add()
            if tally.left > 0 { relay.passOn() }
        }
    }
    for source in sources { loop.add(source, forMode: .default) }
    defer { for source in sources { source.invalidate() } }
    loop.run(mode: .default, for: .zero)
    return time {
        relay.passOn()
        loop.run()
    } / Double(count)
}

private func libuvEvents(_ relay: Relay, _ count: Int) -> Double {
    let descriptors = relay.descriptors.all
    let time = raw_uv_scattered(descriptors, CInt(descriptors.count), relay.order, CInt(count))
    return withExtendedLifetime(relay) { Double(time) / Double(count) }
}

private func nioEvents(_ relay: Relay, _ count: Int) -> Double {
    let isDone = Latch()
    let tally = Tally(count) { isDone.open() }
    let channels = relay.descriptors.all.map { descriptor in
        nioWatch(descriptor) {
            tally.add()
            if tally.left > 0 { relay.passOn() }
        }
    }
    defer { close(channels) }
    return time {
        relay.passOn()
        isDone.wait()
    } / Double(count)
}

private func dispatchEvents(_ relay: Relay, _ count: Int) -> Double {
    let queue = DispatchQueue(label: "bench.events")
    let isDone = Latch()
    let tally = Tally(count) { isDone.open() }
    let sources = relay.descriptors.all.map { descriptor in
        dispatchWatch(descriptor, on: queue) {
            forget(descriptor)
            tally.add()
            if tally.left > 0 { relay.passOn() }
        }
    }
    defer { cancel(sources, keeping: relay) }
    return time {
        relay.passOn()
        isDone.wait()
    } / Double(count)
}
