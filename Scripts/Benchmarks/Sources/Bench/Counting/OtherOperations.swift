import BenchSupport
import Dispatch
import NIOCore
import RawUV
import Results

/// The operations as libuv in C does them.
enum LibuvOperations {
    static func run(_ operation: Operation, _ count: Int) {
        let count = CInt(count)
        switch operation {
        case .pass: raw_uv_count_passes(count)
        case .repeating: raw_uv_count_fires(count, 1)
        case .tolerant: raw_uv_count_fires(count, CInt(Operation.tolerantInterval / 1_000_000))
        case .oneShot: raw_uv_count_one_shots(count, Operation.delay)
        case .signal: raw_uv_count_signals(count, CInt(Operation.pause))
        case .block: raw_uv_count_blocks(count, CInt(Operation.pause))
        case .job: break
        }
    }
}

/// The operations as SwiftNIO does them; it has no passes, no tolerance and no sources to signal.
enum NIOOperations {
    static let all: [Operation] = [.repeating, .oneShot, .block, .job]

    static func run(_ operation: Operation, _ count: Int) {
        let loop = NIO.loop
        let isDone = Latch()
        let tally = Tally(count) { isDone.open() }
        let sender = PacedSender(tally)
        switch operation {
        case .repeating:
            let interval = TimeAmount.milliseconds(1)
            loop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { task in
                if tally.left > 0 { tally.add() } else { task.cancel() }
            }
        case .oneShot: loop.execute { addOneShot(tally) }
        default: sender.start(count) { loop.execute { sender.noteHandled() } }
        }
        isDone.wait()
    }

    private static func addOneShot(_ tally: Tally) {
        NIO.loop.scheduleTask(in: .nanoseconds(Operation.delay)) {
            tally.add()
            if tally.left > 0 { addOneShot(tally) }
        }
    }
}

/// The operations as Dispatch does them; its queues make no passes.
enum DispatchOperations {
    static let all: [Operation] = [.repeating, .oneShot, .tolerant, .signal, .block, .job]

    static func run(_ operation: Operation, _ count: Int) {
        let queue = DispatchQueue(label: "bench.count")
        let isDone = Latch()
        let tally = Tally(count) { isDone.open() }
        let sender = PacedSender(tally)
        switch operation {
        case .repeating: repeatTimer(1_000_000, leeway: 0, on: queue, tally, isDone)
        case .tolerant:
            let leeway = Operation.tolerance
            repeatTimer(Operation.tolerantInterval, leeway: leeway, on: queue, tally, isDone)
        case .oneShot:
            queue.async { addOneShot(on: queue, tally) }
            isDone.wait()
        case .signal:
            let source = Handover(DispatchSource.makeUserDataAddSource(queue: queue))
            source.value.setEventHandler { sender.noteHandled() }
            source.value.activate()
            sender.start(count) { source.value.add(data: 1) }
            withExtendedLifetime(source) { isDone.wait() }
        default:
            sender.start(count) { queue.async { sender.noteHandled() } }
            isDone.wait()
        }
    }

    private static func repeatTimer(
        _ interval: Int64,
        leeway: Int64,
        on queue: DispatchQueue,
        _ tally: Tally,
        _ isDone: Latch
    ) {
        let interval = DispatchTimeInterval.nanoseconds(Int(interval))
        let timer = DispatchSource.makeTimerSource(flags: leeway > 0 ? [] : .strict, queue: queue)
        let leeway = DispatchTimeInterval.nanoseconds(Int(leeway))
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: leeway)
        timer.setEventHandler { if tally.left > 0 { tally.add() } }
        timer.activate()
        isDone.wait()
        timer.cancel()
    }

    private static func addOneShot(on queue: DispatchQueue, _ tally: Tally) {
        let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        let delay = DispatchTimeInterval.nanoseconds(Int(Operation.delay))
        timer.schedule(deadline: .now() + delay, leeway: .nanoseconds(0))
        timer.setEventHandler {
            timer.cancel()
            tally.add()
            if tally.left > 0 { addOneShot(on: queue, tally) }
        }
        timer.activate()
    }
}
