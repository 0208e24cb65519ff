import TestSupport
import Testing
import UVRunLoop
import UVRunLoopBacktraces

@Suite(.timeLimit(.minutes(15))) struct StackTests {
    @Test func theStackOfAHangNamesTheFunctionThatHangs() throws {
        let hang = SharedBox<UVRunLoop.Hang?>(nil)
        let isReported = Signal()
        let loop = SharedBox<UVRunLoop?>(nil)
        let monitor = try UVRunLoop.Monitor(threshold: .milliseconds(50)) { event in
            guard case .began(let found) = event, found.loop === loop.value else { return }
            hang.value = found
            isReported.send()
        }
        onAnotherThread {
            loop.value = UVRunLoop.current
            UVRunLoop.current.perform { functionThatHangs(until: isReported) }
            UVRunLoop.current.run()
        }
        monitor.stop()
        loop.value = nil
        let stack = try #require(hang.value).symbolicatedStack()
        #expect(stack.contains { $0.hasPrefix("functionThatHangs(until:) +") }, "\(stack)")
        #expect(stack.contains { $0.hasPrefix("callOutToBlock(_:) +") }, "\(stack)")
    }

    @Test func aHangWithoutAStackHasNoFunctions() throws {
        let hang = SharedBox<UVRunLoop.Hang?>(nil)
        let isReported = Signal()
        let monitor = try UVRunLoop.Monitor(
            threshold: .milliseconds(50),
            capturesStacks: false
        ) { event in
            guard case .began(let found) = event, found.loop.label == "no stack" else { return }
            hang.value = found
            isReported.send()
        }
        onAnotherThread {
            UVRunLoop.current.label = "no stack"
            UVRunLoop.current.perform { functionThatHangs(until: isReported) }
            UVRunLoop.current.run()
        }
        monitor.stop()
        #expect(hang.value?.stack == [])
        #expect(hang.value?.symbolicatedStack() == [])
    }
}

@inline(never)
private func functionThatHangs(until signal: Signal) { signal.wait() }
