import CoreFoundation
import Foundation
import Synchronization

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
            let far = CF.timer(after: 3_600)
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

/// CFRunLoop by the names that its C interface has.
enum CF {
    static var defaultMode: CFString { kCFRunLoopDefaultMode }

    static func mode(named name: String) -> CFString {
        unsafeBitCast(name as NSString, to: CFString.self)
    }

    /// A timer that does nothing.
    static func timer(after seconds: Double) -> CFRunLoopTimer {
        let date = CFAbsoluteTimeGetCurrent() + seconds
        guard let timer = CFRunLoopTimerCreateWithHandler(nil, date, 0, 0, 0, { _ in }) else {
            fail("No CFRunLoopTimer could be made.")
        }
        return timer
    }

    private static let sources = Atomic(0)

    /// A source that does nothing.
    static func source() -> CFRunLoopSource {
        var context = CFRunLoopSourceContext()
        context.perform = { _ in }
        // Sources with the same information are equal, and only one of them gets into a mode.
        context.info = UnsafeMutableRawPointer(
            bitPattern: sources.add(1, ordering: .relaxed).newValue
        )
        guard let source = CFRunLoopSourceCreate(nil, 0, &context) else {
            fail("No CFRunLoopSource could be made.")
        }
        return source
    }
}
