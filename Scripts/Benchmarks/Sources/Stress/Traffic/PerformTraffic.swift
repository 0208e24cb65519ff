import BenchSupport
import UVRunLoop

/// Requests to perform: in the order of their senders, and with the right answer for who waits.
final class PerformTraffic: Traffic {
    struct Inlet: Sendable {
        let workload: Workload
        let traffic: Confined<PerformTraffic>
    }

    /// An error that a request throws on purpose.
    private struct Refusal: Error, Equatable {
        let number: UInt64
    }

    private static let window = 500

    private let worker: Worker
    private var inlets: [Inlet] = []
    private var sent: [Int] = []
    private var received: [Int]

    init(_ worker: Worker) {
        self.worker = worker
        received = Array(repeating: 0, count: worker.settings.threads)
        worker.workload.putUp(
            Inlet(workload: worker.workload, traffic: Confined(self)),
            for: .performs
        )
    }

    func connect() {
        inlets = worker.partners.compactMap { $0.inlet(for: .performs) }
        sent = inlets.map { _ in 0 }
    }

    func close() { inlets = [] }

    func act(_ generator: inout Generator) {
        let index = generator.below(inlets.count)
        // Threads that wait for each other would do so for ever: only the lower ones wait. In a
        // patient scenario somebody has to be roused.
        let mayWait = inlets[index].workload.index >= worker.index
        let isPatient = worker.scenario?.plan.isPatient == true
        if mayWait, !isPatient, generator.once(in: 2) {
            wait(for: inlets[index], &generator)
        } else {
            for _ in 0...generator.below(4) { request(of: index) }
        }
    }

    // MARK: Not waited for

    private func request(of index: Int) {
        let ledger = inlets[index].workload.ledger(.performs)
        guard ledger.outstanding < Self.window else { return }
        sent[index] += 1
        let (inlet, number, sender) = (inlets[index], sent[index], worker.index)
        ledger.send()
        let fault = worker.settings.fault
        if Fault.losesRequest.strikes(fault) { return }
        if Fault.swapsRequests.strikes(fault) { request(of: index) }
        inlet.workload.loop.requestPerform { inlet.traffic.value.receive(number, from: sender) }
    }

    private func receive(_ number: Int, from sender: Int) {
        worker.book.noteRequest()
        demand(
            number == received[sender] + 1,
            "request \(received[sender] + 1) from worker \(sender) to worker \(worker.index)",
            "request \(number)"
        )
        received[sender] = number
        worker.tally.count(.requestsPerformed)
        worker.wasRoused()
        worker.mayAct(UInt64(sender) << 44 ^ UInt64(number))
        worker.didFinish(.performs)
    }

    // MARK: Waited for

    private func wait(for inlet: Inlet, _ generator: inout Generator) {
        let question = generator.next()
        let throwsRefusal = generator.once(in: 8)
        let isOwn = inlet.workload.index == worker.index
        let calls = Number()
        let slip: UInt64 = Fault.answersWrongly.strikes(worker.settings.fault) ? 1 : 0
        if !isOwn { inlet.workload.ledger(.performs).send() }
        do {
            let answer = try inlet.workload.loop.performAndWait { () throws(Refusal) in
                calls.add()
                inlet.traffic.value.answer(isOwn: isOwn)
                if throwsRefusal { throw Refusal(number: question) }
                return SplitMix64.mix(question) &+ slip
            }
            let expected = SplitMix64.mix(question)
            demand(
                answer == expected && !throwsRefusal,
                throwsRefusal ? "a wait to throw what the block threw" : "the answer \(expected)",
                "the answer \(answer)"
            )
        } catch {
            demand(
                throwsRefusal && error as? Refusal == Refusal(number: question),
                "the answer of a block that is waited for",
                "\(error)"
            )
        }
        demand(calls.value == 1, "a block that is waited for to run once", "\(calls.value) times")
        worker.tally.count(.waitsAnswered)
    }

    /// On the thread that is asked.
    private func answer(isOwn: Bool) {
        // On the loop's own thread the block is not a request.
        guard !isOwn else { return }
        worker.book.noteRequest()
        worker.didFinish(.performs)
    }
}
