import Injection
import UVRunLoop

extension Operation {
    static let threads = [
        Operation("thread") { scene in
            let thread = try UVRunLoop.Thread(name: "worker")
            defer {
                thread.stop()
                thread.join()
            }
            let value = try thread.runLoop.performAndWait { 42 }
            try scene.require(value == 42, "another thread's answer is \(value)")
        },
        Operation("thread.queued-work") { scene in
            let count = Counter()
            let thread = try UVRunLoop.Thread(stackSize: 256 * 1024) { count.add() }
            for _ in 0..<4 { thread.runLoop.perform { count.add() } }
            thread.runLoop.requestPerform { count.add() }
            thread.stop(afterQueuedWork: true)
            thread.join()
            try scene.expect(count.value == 6, "\(6 - count.value) blocks of a thread's last pass")
        },
        Operation("thread.waiting") { scene in
            let thread = try UVRunLoop.Thread()
            let outcome = Shared<String>("")
            let isAsked = Counter()
            thread.runLoop.perform {
                isAsked.add()
                work_sleep(300)
                thread.stop(afterQueuedWork: false)
            }
            _ = scene.awaits { isAsked.value == 1 }
            do {
                try thread.runLoop.performAndWait { outcome.change { $0 = "performed" } }
            } catch {
                outcome.change { $0 = "\(error)" }
            }
            thread.join()
            try scene.require(!outcome.current.isEmpty, "a wait ended without an outcome")
        },
        Operation("teardown") { scene in
            let pipe = try Ends(work_pipe)
            defer { pipe.close() }
            let cancels = Counter()
            let problem = Shared<(any Error & Sendable)?>(nil)
            let worker = PlainThread {
                do {
                    try fill(try UVRunLoop.prepareCurrent(), pipe.first, cancels)
                } catch {
                    problem.change { $0 = error }
                }
            }
            worker.join()
            if let error = problem.current { throw error }
            try scene.expect(cancels.value == 1, "a source's cancel at the end of a thread")
            try scene.expect(work_is_blocking(pipe.first), "the flag O_NONBLOCK given back")
        },
    ]
}

/// Puts one of everything into a loop and runs it for a moment, for the thread's end to clean up.
private func fill(
    _ loop: UVRunLoop,
    _ descriptor: CInt,
    _ cancels: Counter
) throws {
    loop.add(
        UVRunLoop.Source(cancel: { _, _ in cancels.add() }, perform: { _ in }),
        forMode: .default
    )
    loop.add(
        UVRunLoop.Timer(after: .microseconds(200), interval: .seconds(1)) { _ in },
        forMode: .default
    )
    loop.add(UVRunLoop.Observer(activities: .all) { _, _ in }, forMode: .common)
    let source = try UVRunLoop.DescriptorSource(descriptor, events: .readable) { _, _ in }
    loop.add(source, forMode: .default)
    let signal = try UVRunLoop.SignalSource(12) { _, _ in }
    loop.add(signal, forMode: .default)
    loop.add(UVRunLoop.Port { _, _ in }, forMode: .default)
    loop.run(for: .milliseconds(1))
    loop.perform {}
}
