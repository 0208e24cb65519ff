import Injection
import UVRunLoop

extension Operation {
    static let loops = [
        Operation("loop") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            var isDone = false
            loop.performLocally { isDone = true }
            loop.run(for: .zero)
            try scene.expect(isDone, "the block")
        },
        Operation("modes") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            let mode = UVRunLoop.Mode(rawValue: scene.name)
            var calls = 0
            let source = UVRunLoop.Source { _ in
                calls += 1
                loop.stop()
            }
            defer { source.invalidate() }
            let observer = UVRunLoop.Observer(activities: .all) { _, _ in }
            defer { observer.invalidate() }
            loop.add(observer, forMode: .common)
            loop.add(source, forMode: mode)
            source.signal()
            scene.run(loop)
            try scene.require(calls == 0, "a source of another mode was performed")
            scene.run(loop, in: mode)
            try scene.expect(calls == 1, "the source's call")
            try scene.require(loop.modes.contains(mode), "a mode that has a source is not known")
        },
        Operation("perform") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            defer { keeper.invalidate() }
            let count = Counter()
            let sender = PlainThread {
                for _ in 0..<4 {
                    _ = scene.awaits { loop.isWaiting }
                    loop.perform { count.add() }
                }
                loop.perform { loop.stop() }
            }
            scene.run(loop)
            sender.join()
            loop.run(for: .zero)
            try scene.expect(count.value == 4, "\(4 - count.value) blocks of another thread")
        },
        Operation("wake-up") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            defer { keeper.invalidate() }
            let observer = UVRunLoop.Observer(activities: .afterWaiting) { _, _ in loop.stop() }
            defer { observer.invalidate() }
            loop.add(observer, forMode: .default)
            let waker = PlainThread {
                _ = scene.awaits { loop.isWaiting }
                loop.wakeUp()
            }
            let result = loop.run(for: scene.limit)
            waker.join()
            try scene.expect(result == .stopped, "the end of the sleep")
        },
        Operation("nested") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            let inner = UVRunLoop.Mode(rawValue: "inner")
            var results: [UVRunLoop.RunResult] = []
            let sender = Shared<PlainThread?>(nil)
            let timer = UVRunLoop.Timer(after: .zero) { _ in
                let keeper = UVRunLoop.Source { _ in }
                loop.add(keeper, forMode: inner)
                let thread = PlainThread {
                    _ = scene.awaits { loop.isWaiting }
                    loop.perform(inModes: [inner]) { loop.stop() }
                }
                sender.change { $0 = thread }
                results.append(loop.run(mode: inner, for: scene.limit))
                keeper.invalidate()
                loop.stop()
            }
            defer { timer.invalidate() }
            loop.add(timer, forMode: .default)
            results.append(loop.run(for: scene.limit))
            sender.current?.join()
            try scene.expect(results == [.stopped, .stopped], "a stop: \(results)")
        },
        Operation("port") { scene in
            let loop = try UVRunLoop.prepareCurrent()
            var ids: [Int32] = []
            let port = UVRunLoop.Port(capacity: 4) { _, message in
                ids.append(message.id)
                if ids.count == 8 { loop.stop() }
            }
            defer { port.invalidate() }
            loop.add(port, forMode: .default)
            let sender = PlainThread {
                for id in 0..<8 {
                    _ = port.send(UVRunLoop.PortMessage(id: Int32(id)), limit: scene.limit)
                }
            }
            scene.run(loop)
            sender.join()
            try scene.expect(ids.count == 8, "\(8 - ids.count) messages")
            try scene.require(ids == Array(0..<8), "messages came out of order")
        },
    ]
}
