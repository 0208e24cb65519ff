import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

/// Children that are started while other threads use the library.
@Suite(.timeLimit(.minutes(15))) struct ChildStartTests {
    /// Between fork and exec the child runs nothing of the Swift runtime, whose locks the other
    /// thread may hold: under the thread sanitizer each use of a lazy global variable takes one.
    @Test func aChildStartsWhileAnotherThreadEndsALoop() throws {
        try withLoop { loop in
            let thread = try UVRunLoop.Thread()
            let isOver = Signal()
            let ender = startThread {
                while !isOver.hasCome { thread.stop(afterQueuedWork: false) }
            }
            for _ in 0..<50 {
                let log = EventLog()
                let child = try UVRunLoop.ChildProcess(.init("true")) { _, event in
                    if case .exited(let status) = event { log.note("\(status)") }
                }
                loop.add(child, forMode: .default)
                #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
                #expect(log.entries == ["exited(code: 0)"])
            }
            isOver.send()
            ender.join()
            thread.join()
        }
    }
}
