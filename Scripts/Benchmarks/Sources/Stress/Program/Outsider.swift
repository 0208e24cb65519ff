import BenchSupport
import Glibc
import BenchSystem
import Synchronization
import UVRunLoop

/// A thread without a loop: it does what others hand it, and acts on their loops.
final class Outsider: Sendable {
    typealias Job = @Sendable () -> Void

    private let index: Int
    private let settings: Settings
    private let tally: Tally
    private let jobs = Locked<[Job]>([])
    private let isLeaving = Atomic<Bool>(false)
    private let thread = Locked<PosixThread?>(nil)

    init(_ index: Int, _ settings: Settings, _ tally: Tally) {
        self.index = index
        self.settings = settings
        self.tally = tally
    }

    func start() {
        let thread = PosixThread { [self] in
            bench_name_thread("outsider \(index)")
            while !isLeaving.load(ordering: .acquiring) {
                doJobs()
                usleep(500)
            }
            doJobs()
        }
        self.thread.withLock { $0 = thread }
    }

    /// Ends the thread when it has done all it was handed.
    func end() {
        isLeaving.store(true, ordering: .releasing)
        thread.withLock { $0.take() }?.join()
    }

    /// Has the thread do something soon.
    func hand(_ job: @escaping Job) { jobs.withLock { $0.append(job) } }

    /// Has the thread take part in a scenario.
    func play(_ scenario: Scenario) { hand { [self] in act(in: scenario) } }

    private func doJobs() {
        let due = jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
        for job in due { job() }
    }

    // MARK: A scenario

    private func act(in scenario: Scenario) {
        var generator = Generator(scenario.plan.seed, 2, UInt64(index))
        let hasMovedItems = scenario.plan.kinds.contains(.changes)
        let posts = scenario.plan.kinds.contains(.blocks)
        var movedItems =
            hasMovedItems
            ? MovedItem.Kind.allCases.map { MovedItem($0, tally, settings.fault) } : []
        while !scenario.isOver {
            doJobs()
            if hasMovedItems {
                play(&movedItems[generator.below(movedItems.count)], scenario.workloads, &generator)
            }
            if posts { post(to: generator.pick(scenario.workloads)) }
            if generator.once(in: 4) { usleep(UInt32(generator.below(200))) }
        }
        for movedItem in movedItems { movedItem.end() }
        scenario.arrive(at: .sent)
    }

    private func play(
        _ movedItem: inout MovedItem,
        _ workloads: [Workload],
        _ generator: inout Generator
    ) {
        switch generator.below(8) {
        case 0...3: movedItem.putSomewhere(workloads, &generator)
        case 4...5: movedItem.takeOutOfOneMode(&generator)
        case 6: movedItem.rouse()
        default:
            movedItem.end()
            movedItem = MovedItem(movedItem.kind, tally, settings.fault)
        }
    }

    private func post(to workload: Workload) {
        guard workload.outstanding(.atHand) < 2_000 else { return }
        workload.ledger(.blocks).send()
        workload.loop.perform { [worker = workload.worker] in
            worker.value.tally.count(.blocksRun)
            worker.value.didFinish(.blocks)
        }
    }
}
