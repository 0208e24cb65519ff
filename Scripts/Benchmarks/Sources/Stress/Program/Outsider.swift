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

    /// Has the thread take part in a chapter.
    func play(_ chapter: Chapter) { hand { [self] in act(in: chapter) } }

    private func doJobs() {
        let due = jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
        for job in due { job() }
    }

    // MARK: A chapter

    private func act(in chapter: Chapter) {
        var generator = Generator(chapter.plan.seed, 2, UInt64(index))
        let hasToys = chapter.plan.kinds.contains(.changes)
        let posts = chapter.plan.kinds.contains(.blocks)
        var toys = hasToys ? Toy.Kind.allCases.map { Toy($0, tally, settings.fault) } : []
        while !chapter.isOver {
            doJobs()
            if hasToys { play(&toys[generator.below(toys.count)], chapter.desks, &generator) }
            if posts { post(to: generator.pick(chapter.desks)) }
            if generator.once(in: 4) { usleep(UInt32(generator.below(200))) }
        }
        for toy in toys { toy.end() }
        chapter.arrive(at: .sent)
    }

    private func play(_ toy: inout Toy, _ desks: [Desk], _ generator: inout Generator) {
        switch generator.below(8) {
        case 0...3: toy.putSomewhere(desks, &generator)
        case 4...5: toy.takeOutOfOneMode(&generator)
        case 6: toy.rouse()
        default:
            toy.end()
            toy = Toy(toy.kind, tally, settings.fault)
        }
    }

    private func post(to desk: Desk) {
        guard desk.outstanding(.atHand) < 2_000 else { return }
        desk.ledger(.blocks).send()
        desk.loop.perform { [worker = desk.worker] in
            worker.value.tally.count(.blocksRun)
            worker.value.didFinish(.blocks)
        }
    }
}
