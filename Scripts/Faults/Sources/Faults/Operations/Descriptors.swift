import Injection
import UVRunLoop

extension Operation {
    static let descriptors = [
        Operation("descriptor.pipe") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            let pipe = try Ends(work_pipe)
            defer { pipe.close() }
            let calls = Counter()
            let source = try UVRunLoop.DescriptorSource(pipe.first, events: .readable) {
                _,
                events in
                if events.contains(.hangUp) { return loop.stop() }
                if work_read(pipe.first) > 0 { calls.add() }
                loop.stop()
            }
            defer { source.invalidate() }
            loop.add(source, forMode: .default)
            try scene.require(work_write(pipe.second, 1), "a pipe takes nothing")
            scene.run(loop)
            try Ends.expectWatched(source, scene)
            try scene.expect(calls.value == 1, "the first byte of a pipe")
            loop.remove(source, forMode: .default)
            loop.run(for: .zero)
            loop.add(source, forMode: .default)
            let writer = PlainThread {
                _ = scene.awaits { loop.isWaiting }
                _ = work_write(pipe.second, 2)
            }
            scene.run(loop)
            writer.join()
            try Ends.expectWatched(source, scene)
            try scene.expect(calls.value == 2, "the second byte of a pipe")
            source.invalidate()
            try scene.expect(work_is_blocking(pipe.first), "the flag O_NONBLOCK given back")
        },
        Operation("descriptor.socket") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            let pair = try Ends(work_socket_pair)
            defer { pair.close() }
            var seen: UVRunLoop.DescriptorSource.Events = []
            let reader = try UVRunLoop.DescriptorSource(pair.first, events: .readable) {
                _,
                events in
                seen.formUnion(events)
                while work_read(pair.first) > 0 {}
                if events.contains(.hangUp) { loop.stop() }
            }
            defer { reader.invalidate() }
            var isWritable = false
            let writer = try UVRunLoop.DescriptorSource(pair.first, events: .writable) {
                source,
                _ in
                isWritable = true
                source.invalidate()
                _ = work_write(pair.second, 1)
                pair.closeSecond()
            }
            defer { writer.invalidate() }
            loop.add(reader, forMode: .default)
            loop.add(writer, forMode: .default)
            scene.run(loop)
            if !isWritable {
                try Ends.expectWatched(reader, scene)
                try Ends.expectWatched(writer, scene)
            }
            try scene.expect(isWritable, "that a socket is writable")
            try scene.expect(seen.contains(.hangUp), "the hang-up of a socket")
            reader.invalidate()
            try scene.expect(work_is_blocking(pair.first), "the flag O_NONBLOCK given back")
        },
        Operation("descriptor.masked") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            let inner = UVRunLoop.Mode(rawValue: "inner")
            let pipe = try Ends(work_pipe)
            defer { pipe.close() }
            var calls = 0
            let source = try UVRunLoop.DescriptorSource(pipe.first, events: .readable) {
                _,
                events in
                calls += 1
                guard events.contains(.hangUp) || calls == 2 else {
                    // It stays readable, and is not served while its handler is on the stack.
                    let timer = UVRunLoop.Timer(after: .microseconds(300)) { _ in loop.stop() }
                    loop.add(timer, forMode: .default)
                    loop.run(for: scene.limit)
                    timer.invalidate()
                    return
                }
                loop.stop()
            }
            defer { source.invalidate() }
            loop.add(source, forMode: .default)
            loop.add(source, forMode: inner)
            _ = work_write(pipe.second, 1)
            scene.run(loop)
            try Ends.expectWatched(source, scene)
            try scene.expect(calls == 2, "the second call for a descriptor that stayed readable")
        },
        Operation("descriptor.withdrawn") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            let pipe = try Ends(work_pipe)
            defer { pipe.close() }
            let source = try UVRunLoop.DescriptorSource(
                pipe.first,
                events: .readable,
                sendableHandler: { _, _ in }
            )
            loop.add(source, forMode: .default)
            let other = PlainThread {
                _ = scene.awaits { loop.isWaiting }
                source.invalidate()
            }
            let result = loop.run(for: scene.limit)
            other.join()
            source.invalidate()
            try scene.expect(result == .finished, "the end of a run whose last item was withdrawn")
            try scene.expect(work_is_blocking(pipe.first), "the flag O_NONBLOCK given back")
        },
    ]
}

/// Two descriptors that belong together.
struct Ends: Sendable {
    let first: CInt
    let second: CInt
    private let isSecondOpen = Shared(true)

    init(_ make: (UnsafeMutablePointer<CInt>?) -> CInt) throws {
        var ends: [CInt] = [-1, -1]
        guard ends.withUnsafeMutableBufferPointer({ make($0.baseAddress) }) == 0 else {
            throw Wrong(what: "the workload has no descriptors")
        }
        first = ends[0]
        second = ends[1]
    }

    func closeSecond() {
        isSecondOpen.change { isOpen in
            if isOpen { work_close(second) }
            isOpen = false
        }
    }

    func close() {
        closeSecond()
        work_close(first)
    }

    /// A source that the kernel would not watch is invalid, after a call with `.hangUp`.
    static func expectWatched(_ source: UVRunLoop.DescriptorSource, _ scene: Scene) throws {
        if !source.isValid { throw Reported(what: "the source became invalid") }
    }
}
