import BenchSupport
import CFSupport
import CoreFoundation

// CFRunLoop's functions may be called from any thread.
extension CFRunLoop: @retroactive @unchecked Sendable {}
extension CFRunLoopSource: @retroactive @unchecked Sendable {}
extension CFRunLoopTimer: @retroactive @unchecked Sendable {}

/// A CFRunLoop that runs on a thread of its own and is never empty.
final class ServedCFLoop: @unchecked Sendable {
    let loop: CFRunLoop
    private let thread: PosixThread

    init() {
        let isRunning = Latch()
        let box = Box()
        thread = PosixThread {
            box.loop = CFRunLoopGetCurrent()
            let far = CF.farTimer()
            CFRunLoopAddTimer(box.loop, far, CF.defaultMode)
            isRunning.open()
            while !box.isOver { CFRunLoopRun() }
        }
        isRunning.wait()
        guard let loop = box.loop else { fail("A thread has no CFRunLoop.") }
        self.loop = loop
        self.box = box
    }

    private let box: Box

    func perform(_ block: @escaping () -> Void) {
        CFRunLoopPerformBlock(loop, CF.defaultMode, block)
        CFRunLoopWakeUp(loop)
    }

    func drain() {
        let latch = Latch()
        perform { latch.open() }
        latch.wait()
    }

    func end() {
        perform { [box, loop] in
            box.isOver = true
            CFRunLoopStop(loop)
        }
        thread.join()
    }

    /// Written by the loop's thread.
    private final class Box: @unchecked Sendable {
        var loop: CFRunLoop?
        var isOver = false
    }
}

extension CF {
    /// A timer that does nothing, in an hour.
    static func farTimer() -> CFRunLoopTimer { timer(after: 3_600_000_000_000) { _ in } }
}
