import CUV
import Glibc
import Synchronization
import Testing

@testable import UVRunLoop

/// Loops that end with their threads.
@Suite(.timeLimit(.minutes(15))) struct TeardownTests {
    @Test func callsThatRaceWithTheEndOfALoopsThreadAreHarmless() {
        for round in 0..<25 {
            let handover = SharedBox<UVRunLoop?>(nil)
            let hammers = Hammers(handover)
            let thread = startThread {
                let loop = UVRunLoop.current
                loop.add(UVRunLoop.Source { _ in }, forMode: .default)
                handover.value = loop
                loop.run(mode: .default, for: .microseconds(300 * round))
            }
            withHangGuard {
                thread.join()
                hammers.end()
            }
            #expect(handover.value.map { $0.isWaiting } == false)
        }
    }

    /// A wake-up is a write to a descriptor, whose number somebody else may have by then.
    @Test func aWakeUpAfterTheEndWritesToNobodysDescriptor() async {
        await #expect(processExitsWith: .success) { inQuietProcess { wakeUpAfterTheEnd() } }
    }

    @Test func twoHundredThreadsLeaveNoDescriptorBehind() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { useLoops(on: 200, atATime: 50) }
        }
    }

    @Test(.disabled(if: isUnderThreadSanitizer, "It takes the sanitizer minutes."))
    func aThousandThreadsLeaveNoDescriptorBehind() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { useLoops(on: 1000, atATime: 20) }
        }
    }

    @Test func whatIsQueuedIsReleasedLastAndInOrder() {
        let log = EventLog()
        onAnotherThread { queueOneOfEach(noting: log) }
        #expect(log.entries == ["cancel", "timer gone", "request gone", "block gone"])
    }

    /// A thread that gets a loop, or ends with one, frees those of threads that are gone.
    @Test func theLoopOfAThreadThatIsGoneIsFreedByTheNextOnes() async {
        await #expect(processExitsWith: .success) { inQuietProcess { freeEndedLoops() } }
    }

    /// libuv's pool uses it until the work ends, for which a lent loop does not wait that long.
    @Test func aRequestThatOutlivesALentLoopKeepsItsObject() throws {
        let driver = try UVDriver(wakeState: WakeState())
        _ = unsafe driver.lend()
        let (hasBegun, goOn) = (Signal(), Signal())
        let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)
        let work = Box { @Sendable in
            hasBegun.send()
            goOn.wait()
        }
        request.pointee.data = Unmanaged.passRetained(work).toOpaque()
        weak var weakGuest: LentRequest?
        do {
            let guest = LentRequest()
            weakGuest = guest
            let host = try #require(driver.host())
            host.insert(guest)
            uv_queue_work(
                host.uvLoop,
                request,
                { request in
                    guard let data = request?.pointee.data else { return }
                    Unmanaged<Box<@Sendable () -> Void>>.fromOpaque(data).takeRetainedValue()
                        .value()
                },
                nil
            )
        }
        hasBegun.wait()
        driver.close()
        #expect(weakGuest != nil)
        goOn.send()
    }

    @Test func aLoopWhoseDescriptorsWereClosedByTheirOwnersEndsToo() async {
        await #expect(processExitsWith: .success) { inQuietProcess { endWithClosedDescriptors() } }
    }
}

/// The object of a request, which cannot be cancelled.
private final class LentRequest: HostedHandle {
    var order: Int { 0 }
    var isExpected: Bool { false }
    func announce(ofPoll isOfPoll: Bool) {}
    func loopWillEnd() {}
}

/// Threads that call whatever any thread may call, for as long as they are let.
private final class Hammers: Sendable {
    private let isDone = Atomic<Bool>(false)
    private let threads = Guarded<[RunningThread]>([])

    init(_ handover: SharedBox<UVRunLoop?>) {
        let threads = (0..<4).map { number in
            startThread {
                let source = UVRunLoop.Source(sendablePerform: { _ in })
                let timer = UVRunLoop.Timer(after: .zero, sendableHandler: { _ in })
                let pipe = Pipe()
                let port = try? UVRunLoop.DescriptorSource(
                    pipe.readEnd,
                    events: .readable,
                    sendableHandler: { _, _ in }
                )
                while !self.isDone.load(ordering: .acquiring) {
                    guard let loop = handover.value else { continue }
                    loop.wakeUp()
                    loop.perform {}
                    if number == 0 { loop.stop() }
                    loop.add(source, forMode: .default)
                    source.signal()
                    loop.wakeUp()
                    loop.add(timer, forMode: .default)
                    if let port {
                        loop.add(port, forMode: .default)
                        loop.remove(port, forMode: .default)
                    }
                    loop.remove(timer, forMode: .default)
                    loop.remove(source, forMode: .default)
                    loop.addCommonMode(UVRunLoop.Mode("teardown, common"))
                }
                port?.invalidate()
            }
        }
        self.threads.withLock { $0 = threads }
    }

    func end() {
        // The loop has ended: a few more calls of everybody.
        usleep(2000)
        isDone.store(true, ordering: .releasing)
        for thread in threads.withLock({ $0 }) { thread.join() }
    }
}

private func wakeUpAfterTheEnd() {
    let handover = SharedBox<UVRunLoop?>(nil)
    onAnotherThread {
        let loop = UVRunLoop.current
        handover.value = loop
        loop.add(UVRunLoop.Timer(after: .microseconds(300)) { _ in }, forMode: .default)
        loop.run(mode: .default, for: nil)
    }
    guard let loop = handover.value else { preconditionFailure("There was a loop.") }
    let pairs = (0..<8).map { _ in socketPair() }
    let strangers = pairs.flatMap { [$0.0, $0.1] }
    for _ in 0..<1000 {
        loop.wakeUp()
        loop.perform {}
        loop.stop()
    }
    for stranger in strangers {
        precondition(drain(stranger) == -1, "Somebody wrote to a descriptor of others.")
    }
    for stranger in strangers { close(stranger) }
}

private func queueOneOfEach(noting log: EventLog) {
    let loop = UVRunLoop.current
    let never = UVRunLoop.Mode("never runs")
    let timer = Witness("timer", log)
    let (request, block) = (Witness("request", log), Witness("block", log))
    loop.add(UVRunLoop.Timer(after: .seconds(3600)) { _ in timer.note("fired") }, forMode: never)
    loop.requestPerform(inModes: [never]) { request.note("performed") }
    loop.perform(inModes: [never]) { block.note("performed") }
    let source = UVRunLoop.Source(cancel: { _, _ in log.note("cancel") }, sendablePerform: { _ in })
    loop.add(source, forMode: never)
}

private func freeEndedLoops() {
    let ended = SharedBox<[Weak<UVRunLoop>]>([])
    for _ in 0..<20 { onAnotherThread { ended.value.append(Weak(UVRunLoop.current)) } }
    // The system may take a moment to forget a thread that was joined.
    var starts = 0
    while ended.value.contains(where: { $0.object != nil }) {
        starts += 1
        precondition(starts < 1000, "A loop stays in memory.")
        onAnotherThread { _ = UVRunLoop.current }
    }
}

/// Lets so many threads use everything that has descriptors, and counts those before and after.
private func useLoops(on count: Int, atATime width: Int) {
    useEverythingOnce()
    let before = openDescriptorCount()
    withHangGuard {
        for _ in 0..<count / width {
            let threads = (0..<width).map { _ in startThread { useEverything() } }
            for thread in threads { thread.join() }
        }
    }
    let after = openDescriptorCount()
    precondition(before > 0 && before == after, "\(before) descriptors became \(after).")
}

private func useEverythingOnce() { onAnotherThread { useEverything() } }

private func useEverything() {
    let loop = UVRunLoop.current
    let pipe = Pipe()
    let source = try? UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
        _ = pipe.read()
    }
    guard let source else { preconditionFailure("A pipe can be watched.") }
    loop.add(source, forMode: .default)
    loop.add(UVRunLoop.Source { _ in }, forMode: .common)
    let timer = UVRunLoop.Timer(after: .microseconds(200), interval: .microseconds(150)) { _ in
        loop.stop()
    }
    loop.add(timer, forMode: .default)
    let far = UVRunLoop.Timer(after: .seconds(60), tolerance: .seconds(5)) { _ in }
    loop.add(far, forMode: UVRunLoop.Mode("teardown, other"))
    loop.perform(inModes: [UVRunLoop.Mode("teardown, other")]) {}
    pipe.write("x")
    precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
}

private func endWithClosedDescriptors() {
    useEverythingOnce()
    let before = openDescriptorCount()
    for _ in 0..<10 {
        onAnotherThread {
            let loop = UVRunLoop.current
            let pipes = [Pipe(), Pipe()]
            for pipe in pipes {
                let source = try? UVRunLoop.DescriptorSource(
                    pipe.readEnd,
                    events: .readable,
                    sendableHandler: { _, _ in }
                )
                if let source { loop.add(source, forMode: .default) }
            }
            loop.run(mode: .default, for: .zero)
            for pipe in pipes { pipe.closeReadEnd() }
        }
    }
    precondition(before == openDescriptorCount(), "Descriptors were left behind.")
}
