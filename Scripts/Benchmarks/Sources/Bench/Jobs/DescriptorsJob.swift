import BenchSupport
import Dispatch
import NIOCore
import NIOPosix
import RawUV
import UVRunLoop

extension Job {
    /// One byte through a watched pipe, with n idle descriptors watched beside it: the handler
    /// reads the byte and writes the next one.
    ///
    /// CFRunLoop on Linux has no public way to watch a descriptor.
    static func descriptors(_ effort: Effort) -> Job {
        let count = effort.choose(50_000, quick: 20_000)
        return Job(
            rows: [Row(name: "descriptors", title: "A byte through a watched pipe")],
            sizes: [0, 1_000, 8_000],
            sizeName: "idle descriptors",
            descriptorsEach: 2,
            contenders: [
                Contender(.uvRunLoop) { [ourBytes(count, beside: EventDescriptors($0))] },
                Contender(.libuv) { idle in
                    let idle = EventDescriptors(idle)
                    let time = raw_uv_pipe(idle.all, CInt(idle.all.count), CInt(count))
                    return [withExtendedLifetime(idle) { Double(time) / Double(count) }]
                },
                Contender(.nio) { [nioBytes(count, beside: EventDescriptors($0))] },
                Contender(.dispatch) { [dispatchBytes(count, beside: EventDescriptors($0))] },
            ]
        )
    }
}

private func ourBytes(_ count: Int, beside idle: EventDescriptors) -> Double {
    let loop = UVRunLoop.current
    let pipe = Pipe()
    let tally = Tally(count) { loop.stop() }
    var sources = idle.all.map { ourWatch($0) { _ in } }
    sources.append(
        ourWatch(pipe.readEnd) { descriptor in
            readByte(from: descriptor)
            tally.add()
            if tally.left > 0 { writeByte(to: pipe.writeEnd) }
        }
    )
    for source in sources { loop.add(source, forMode: .default) }
    defer { for source in sources { source.invalidate() } }
    // The first run tells the kernel about all of them.
    loop.run(mode: .default, for: .zero)
    return time {
        writeByte(to: pipe.writeEnd)
        loop.run()
    } / Double(count)
}

private func nioBytes(_ count: Int, beside idle: EventDescriptors) -> Double {
    let pipe = Pipe()
    let isDone = Latch()
    let tally = Tally(count) { isDone.open() }
    var channels = idle.all.map { nioWatch($0) {} }
    channels.append(
        nioWatch(pipe.readEnd) {
            tally.add()
            if tally.left > 0 { writeByte(to: pipe.writeEnd) }
        }
    )
    defer { close(channels) }
    return time {
        writeByte(to: pipe.writeEnd)
        isDone.wait()
    } / Double(count)
}

private func dispatchBytes(_ count: Int, beside idle: EventDescriptors) -> Double {
    let queue = DispatchQueue(label: "bench.descriptors")
    let pipe = Pipe()
    let isDone = Latch()
    let tally = Tally(count) { isDone.open() }
    var sources = idle.all.map { dispatchWatch($0, on: queue) {} }
    sources.append(
        dispatchWatch(pipe.readEnd, on: queue) {
            readByte(from: pipe.readEnd)
            tally.add()
            if tally.left > 0 { writeByte(to: pipe.writeEnd) }
        }
    )
    defer { cancel(sources, keeping: (idle, pipe)) }
    return time {
        writeByte(to: pipe.writeEnd)
        isDone.wait()
    } / Double(count)
}
