import BenchSupport
import Glibc
import UVRunLoop

/// Bytes through pipes and pairs of sockets: all of them, in order, and then one hang-up.
final class DescriptorTraffic: Traffic {
    /// The write end of a channel to a thread.
    struct Inlet: Sendable {
        let sender: Int
        let descriptor: CInt
        let seed: UInt64
        let workload: Workload
    }

    private let worker: Worker
    private var readers: [StreamReader] = []
    private var writers: [StreamWriter] = []

    init(_ worker: Worker) {
        self.worker = worker
        guard let scenario = worker.scenario else { return }
        var generator = Generator(scenario.plan.seed, UInt64(worker.index), 3)
        var inlets: [Inlet] = []
        // One channel from each of a few threads, this one included.
        let count = scenario.workloads.count
        for step in 0..<min(3, count) {
            let sender = (worker.index + count - step) % count
            let channel = Channel(isSocket: generator.once(in: 2))
            let seed = generator.next()
            readers.append(StreamReader(worker, channel.readEnd, seed, &generator))
            inlets.append(
                Inlet(
                    sender: sender,
                    descriptor: channel.writeEnd,
                    seed: seed,
                    workload: worker.workload
                )
            )
        }
        worker.workload.putUp(inlets, for: .descriptors)
    }

    func connect() {
        guard let scenario = worker.scenario else { return }
        for workload in scenario.workloads {
            let inlets = workload.inlet(for: .descriptors, as: [Inlet].self) ?? []
            for inlet in inlets where inlet.sender == worker.index {
                writers.append(StreamWriter(worker, inlet))
            }
        }
    }

    func act(_ generator: inout Generator) {
        if generator.once(in: 10), worker.scenario?.plan.isPatient == false {
            generator.pick(readers).change(&generator)
        } else {
            generator.pick(writers).act(&generator)
        }
    }

    func finishSending() {
        for reader in readers { reader.putIn() }
        for writer in writers { writer.end() }
    }

    func close() {
        for reader in readers { reader.close() }
        (readers, writers) = ([], [])
    }
}

/// The writing end of a channel.
final class StreamWriter {
    private let worker: Worker
    private let inlet: DescriptorTraffic.Inlet
    private var stream: ByteStream
    /// Waits for room.
    private var source: UVRunLoop.DescriptorSource?
    /// How many bytes the source is to write.
    private var wanted = 0
    private var isClosed = false

    init(_ worker: Worker, _ inlet: DescriptorTraffic.Inlet) {
        self.worker = worker
        self.inlet = inlet
        stream = ByteStream(inlet.seed)
    }

    func act(_ generator: inout Generator) {
        guard !isClosed else { return }
        if generator.once(in: 3), source == nil {
            wanted = generator.within(1...60_000)
            writeWhenThereIsRoom()
        } else {
            write(generator.within(1...2_000))
        }
    }

    @discardableResult
    private func write(_ count: Int) -> Int {
        var bytes = stream.next(count)
        let fault = worker.settings.fault
        if Fault.corruptsByte.strikes(fault) { bytes[count / 2] ^= 1 }
        // The reader may be faster than this.
        inlet.workload.ledger(.descriptors).send(count)
        guard case .bytes(let written) = Channel.write(inlet.descriptor, bytes) else {
            inlet.workload.ledger(.descriptors).takeBack(count)
            return 0
        }
        inlet.workload.ledger(.descriptors).takeBack(count - written)
        stream.take(written)
        if Fault.losesByte.strikes(fault) { inlet.workload.ledger(.descriptors).send() }
        return written
    }

    private func writeWhenThereIsRoom() {
        do {
            let source = try UVRunLoop.DescriptorSource(
                inlet.descriptor,
                events: .writable
            ) { [self] source, events in fill(source, events) }
            self.source = source
            worker.loop.add(source, forMode: .default)
        } catch {
            Verdict.fail(expected: "the write end of a channel to be watched", seen: "\(error)")
        }
    }

    private func fill(
        _ source: UVRunLoop.DescriptorSource,
        _ events: UVRunLoop.DescriptorSource.Events
    ) {
        worker.book.notePort()
        demand(!isClosed && source === self.source, "no event of an invalid source", "one")
        demand(events == .writable, "a channel with a reader to be writable", "\(events)")
        worker.tally.count(.descriptorEvents)
        wanted -= write(min(wanted, 5_000))
        if wanted == 0 { invalidate() }
        worker.mayAct(UInt64(stream.count))
    }

    private func invalidate() {
        source?.invalidate()
        source = nil
    }

    /// Says that no more comes.
    func end() {
        invalidate()
        isClosed = true
        // For the hang-up.
        inlet.workload.ledger(.descriptors).send()
        if Fault.losesHangUp.strikes(worker.settings.fault) { return }
        Glibc.close(inlet.descriptor)
    }
}

/// The reading end of a channel.
final class StreamReader {
    private let worker: Worker
    private let descriptor: CInt
    private let mode: UVRunLoop.Mode
    private var stream: ByteStream
    private var generator: Generator
    private var source: UVRunLoop.DescriptorSource?
    private var isOut = false
    private var hasEnded = false
    private var hasHungUp = false
    private var isOnStack = false
    private var buffer = [UInt8](repeating: 0, count: 8_192)

    init(_ worker: Worker, _ descriptor: CInt, _ seed: UInt64, _ generator: inout Generator) {
        self.worker = worker
        self.descriptor = descriptor
        mode = generator.pick([.default, .common])
        stream = ByteStream(seed)
        self.generator = generator.fork()
        makeSource()
    }

    private func makeSource() {
        do {
            let source = try UVRunLoop.DescriptorSource(
                descriptor,
                events: .readable
            ) { [self] source, events in receive(source, events) }
            self.source = source
            worker.loop.add(source, forMode: mode)
        } catch {
            Verdict.fail(expected: "the read end of a channel to be watched", seen: "\(error)")
        }
    }

    /// Takes the source out of its loop for a while, or puts another one in its place.
    func change(_ generator: inout Generator) {
        guard !hasHungUp, !isOnStack else { return }
        if isOut { return putIn() }
        if generator.once(in: 2) {
            isOut = true
            if let source { worker.loop.remove(source, forMode: mode) }
        } else {
            source?.invalidate()
            makeSource()
        }
    }

    func putIn() {
        guard isOut, let source else { return }
        isOut = false
        worker.loop.add(source, forMode: mode)
    }

    // MARK: Reading

    private func receive(
        _ source: UVRunLoop.DescriptorSource,
        _ events: UVRunLoop.DescriptorSource.Events
    ) {
        worker.book.notePort()
        demand(
            !isOut && source === self.source,
            "no event of a source that was removed or invalidated",
            "one"
        )
        demand(!isOnStack, "a port not to be served within its own call", "that")
        demand(!hasHungUp, "one hang-up", "another event after it: \(events)")
        demand(events.contains(.readable), "what was asked for", "\(events)")
        isOnStack = true
        defer { isOnStack = false }
        worker.tally.count(.descriptorEvents)
        let before = stream.count
        if events.contains(.hangUp) { hangUp() } else { readSome() }
        worker.mayAct(UInt64(stream.count))
        worker.didFinish(.descriptors, .atHand, stream.count - before + (hasHungUp ? 1 : 0))
    }

    /// Reads a little, so that some is left for another pass.
    private func readSome() {
        for _ in 0...generator.below(3) {
            let limit = generator.within(1...buffer.count)
            switch Channel.read(descriptor, &buffer, atMost: limit) {
            case .bytes(let count): check(count)
            case .notNow: return
            case .end:
                hasEnded = true
                return
            }
        }
    }

    private func check(_ count: Int) {
        demand(!hasEnded, "no bytes after the end", "\(count)")
        if let place = stream.mismatch(buffer[..<count]) {
            Verdict.fail(
                expected: "the bytes that were sent to worker \(worker.index), in order",
                seen: "another one at place \(place)"
            )
        }
        stream.take(count)
        worker.tally.count(.bytesRead, count)
    }

    private func hangUp() {
        guard case .end = Channel.read(descriptor, &buffer, atMost: buffer.count) else {
            Verdict.fail(expected: "a hang-up when everything is read", seen: "one before that")
        }
        hasHungUp = true
        worker.tally.count(.hangUps)
    }

    func close() {
        demand(hasHungUp, "a hang-up at the end of every channel", "none")
        source?.invalidate()
        source = nil
        Glibc.close(descriptor)
    }
}
