import Glibc
import Testing

@testable import UVRunLoop

/// The signal with which a monitor captures stacks.
@Suite(.timeLimit(.minutes(15))) struct MonitorSignalTests {
    @Test func itIsNotSentOnceOtherCodeHasInstalledAHandlerForIt() async {
        await #expect(processExitsWith: .success) {
            let stack = try stackOfAHang()
            for number in CInt(34)...64 { signal(number) { _ in _exit(1) } }
            let noStack = try stackOfAHang()
            precondition(!stack.isEmpty && noStack.isEmpty)
        }
    }
}

/// Has a block hang until a monitor has found it.
private func stackOfAHang() throws -> [UInt] {
    let (stack, isFound) = (SharedBox<[UInt]>([]), Signal())
    let monitor = try UVRunLoop.Monitor(threshold: .milliseconds(20)) { event in
        guard case .began(let hang) = event else { return }
        stack.value = hang.stack
        isFound.send()
    }
    defer { monitor.stop() }
    onAnotherThread {
        UVRunLoop.current.performLocally { isFound.wait() }
        UVRunLoop.current.run(mode: .default, for: .zero)
    }
    return stack.value
}
