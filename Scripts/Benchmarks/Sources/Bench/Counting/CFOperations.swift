import BenchSupport
import CFSupport
import CoreFoundation
import Foundation

/// The operations as CFRunLoop does them.
enum CFOperations {
    static func run(_ operation: Operation, _ count: Int) {
        let (loop, mode) = (Handover(CF.loop), CF.defaultMode)
        let keeper = CF.source()
        CFRunLoopAddSource(loop.value, keeper, mode)
        let tally = Tally(count) { CFRunLoopStop(loop.value) }
        let sender = PacedSender(tally)
        switch operation {
        case .pass:
            for _ in 0..<count { CFRunLoopRunInMode(mode, 0, false) }
        case .job: break
        case .repeating:
            repeatTimer(1_000_000, tolerance: 0, tally)
        case .tolerant:
            repeatTimer(Operation.tolerantInterval, tolerance: Operation.tolerance, tally)
        case .oneShot:
            addOneShot(tally)
            CFRunLoopRun()
        case .signal:
            let source = Handover(CF.source { sender.noteHandled() })
            CFRunLoopAddSource(loop.value, source.value, mode)
            sender.start(count) {
                CFRunLoopSourceSignal(source.value)
                CFRunLoopWakeUp(loop.value)
            }
            CFRunLoopRun()
        case .block:
            sender.start(count) {
                CFRunLoopPerformBlock(loop.value, CF.defaultMode) { sender.noteHandled() }
                CFRunLoopWakeUp(loop.value)
            }
            CFRunLoopRun()
        }
    }

    private static func repeatTimer(_ interval: Int64, tolerance: Int64, _ tally: Tally) {
        let timer = CF.timer(after: interval, interval: interval) { _ in tally.add() }
        CFRunLoopTimerSetTolerance(timer, Double(tolerance) / 1e9)
        CFRunLoopAddTimer(CF.loop, timer, CF.defaultMode)
        CFRunLoopRun()
    }

    private static func addOneShot(_ tally: Tally) {
        let timer = CF.timer(after: Operation.delay) { _ in
            tally.add()
            if tally.left > 0 { addOneShot(tally) }
        }
        CFRunLoopAddTimer(CF.loop, timer, CF.defaultMode)
    }
}
