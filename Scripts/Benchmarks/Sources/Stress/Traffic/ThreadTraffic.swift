import BenchSupport
import UVRunLoop

/// Threads with loops that are started, given work, stopped and joined: queued work is done or
/// dropped as it was asked for, and nothing is left behind.
final class ThreadTraffic: Traffic {
    /// How many threads there may be at a time.
    private static let permits = Number(8)

    private let worker: Worker

    init(_ worker: Worker) { self.worker = worker }

    func act(_ generator: inout Generator) {
        // A start and an end take as long as thousands of other things.
        guard generator.once(in: 8) else { return }
        defer { Self.permits.add() }
        guard Self.permits.add(-1) >= 0 else { return }
        do {
            let guest = try Guest(worker.settings.fault)
            guest.work(&generator)
            guest.end(&generator)
            worker.tally.count(.threadsEnded)
        } catch {
            worker.tally.count(.threadsRefused)
        }
    }
}

/// A thread that stays for a moment.
private final class Guest {
    /// Counts itself as long as it is there.
    private final class Trace: Sendable {
        let number: Number

        init(_ number: Number) {
            self.number = number
            number.add()
        }

        deinit { number.add(-1) }
    }

    /// The traces that are kept on purpose.
    private static let kept = Locked<[Trace]>([])

    private let fault: Fault?
    private let thread: UVRunLoop.Thread
    private let loop: UVRunLoop
    private let traces = Number()
    private let setUps = Number()
    private let blocksRun = Number()
    private var blocksPosted = 0
    private let modesLeft = Number()
    private var port: UVRunLoop.Port?
    private let messages = Number()

    init(_ fault: Fault?) throws {
        self.fault = fault
        let setUps = setUps
        thread = try UVRunLoop.Thread(name: "guest", setUp: { setUps.add() })
        loop = thread.runLoop
    }

    // MARK: Work

    func work(_ generator: inout Generator) {
        addItems()
        for _ in 0...generator.below(40) { post() }
        sendMessages(generator.below(20))
        let question = generator.next()
        do {
            let answer = try loop.performAndWait { SplitMix64.mix(question) }
            demand(answer == SplitMix64.mix(question), "the right answer of a thread", "\(answer)")
        } catch {
            Verdict.fail(expected: "a thread that nobody stopped to answer", seen: "\(error)")
        }
        demand(setUps.value == 1, "a thread to be set up before it works", "it not")
        for _ in 0...generator.below(40) { post() }
    }

    /// Posts a block that has to follow the one before.
    private func post() {
        blocksPosted += 1
        let (number, count, trace, loop) = (blocksPosted, blocksRun, Trace(traces), loop)
        loop.perform {
            withExtendedLifetime(trace) {
                demand(
                    count.add() == number && UVRunLoop.current === loop,
                    "block \(number) of a thread after the one before",
                    "it as number \(count.value)"
                )
            }
        }
        if Fault.dropsQueuedWork.lasts(fault) { blocksPosted += 1 }
    }

    /// Adds what is to be let go of when the thread ends.
    private func addItems() {
        let (trace, modesLeft, messages) = (Trace(traces), modesLeft, messages)
        let source = UVRunLoop.Source(
            cancel: { _, _ in modesLeft.add() },
            sendablePerform: { _ in withExtendedLifetime(trace) {} }
        )
        loop.add(source, forMode: .default)
        loop.add(source, forMode: Modes.apart)
        let timer = UVRunLoop.Timer(
            after: .seconds(3_600),
            sendableHandler: { _ in withExtendedLifetime(trace) {} }
        )
        loop.add(timer, forMode: .common)
        let port = UVRunLoop.Port(sendableHandler: { _, message in
            demand(
                message.id == messages.add(),
                "message \(messages.value) of a thread",
                "message \(message.id)"
            )
        })
        loop.add(port, forMode: .default)
        self.port = port
    }

    private func sendMessages(_ count: Int) {
        for number in 0..<count {
            let isSent = port?.send(UVRunLoop.PortMessage(id: Int32(number + 1))) == true
            demand(isSent, "a thread's port with room to take a message", "it refused")
        }
    }

    // MARK: The end

    func end(_ generator: inout Generator) {
        let doesQueuedWork = generator.once(in: 2)
        thread.stop(afterQueuedWork: doesQueuedWork)
        thread.join()
        demand(
            doesQueuedWork ? blocksRun.value == blocksPosted : blocksRun.value <= blocksPosted,
            "a thread to do the \(blocksPosted) blocks that were queued when it was stopped",
            "\(blocksRun.value) done"
        )
        demand(
            modesLeft.value == 2,
            "a source to be told of the end in 2 modes",
            "\(modesLeft.value)"
        )
        demand(port?.isValid == false, "a port to be invalid after its thread", "a valid one")
        checkSilence()
        port = nil
        leak()
        demand(traces.value == 0, "a thread to let go of all it had", "\(traces.value) things left")
    }

    /// After the end, calls from other threads do nothing.
    private func checkSilence() {
        let count = blocksRun.value
        post()
        loop.add(UVRunLoop.Source(sendablePerform: { _ in }), forMode: .default)
        loop.wakeUp()
        loop.stop()
        checkRefusal()
        demand(blocksRun.value == count, "no block to run after its thread", "one")
    }

    private func checkRefusal() {
        let expected = "a wait for a thread that has ended to throw 'threadEnded'"
        do {
            try loop.performAndWait {}
        } catch {
            return demand(error as? UVRunLoop.PerformError == .threadEnded, expected, "\(error)")
        }
        Verdict.fail(expected: expected, seen: "it return")
    }

    private func leak() {
        if fault == .keepsThings { Self.kept.withLock { $0.append(Trace(traces)) } }
        if fault == .leaksDescriptor { _ = Channel(isSocket: false) }
        if fault == .leaksMemory {
            UnsafeMutableRawPointer.allocate(byteCount: 100_000, alignment: 8)
                .initializeMemory(as: UInt8.self, repeating: 1, count: 100_000)
        }
    }
}
