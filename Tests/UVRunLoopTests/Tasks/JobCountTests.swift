import Testing

@testable import UVRunLoop

/// How many jobs calls between actors of one loop take.
@Suite(.timeLimit(.minutes(15))) struct JobCountTests {
    @Test(arguments: [false, true])
    func actorsOfALoopCallEachOtherWithoutFurtherJobs(isPreferred: Bool) {
        let jobs = jobs(isPreferred: isPreferred) { caller, called in
            await caller.call(called, 100)
        }
        #expect(jobs < 20)
    }

    /// A wait leaves the task without the preference for the loop that it has meanwhile.
    @Test(arguments: [false, true])
    func actorsOfALoopCallEachOtherWithoutFurtherJobsAfterAWait(isPreferred: Bool) {
        let jobs = jobs(isPreferred: isPreferred) { caller, called in
            try? await caller.sleep()
            await caller.call(called, 100)
        }
        #expect(jobs < 20)
    }

    private func jobs(
        isPreferred: Bool,
        _ body: @escaping @Sendable (Pinned, Pinned) async -> Void
    ) -> UInt64 {
        var count: UInt64 = 0
        withLoop(.uv) { loop, _ in
            let (caller, called) = (Pinned(loop), Pinned(loop))
            let end = TaskEnd()
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            Task(executorPreference: isPreferred ? loop.taskExecutor : nil) {
                await body(caller, called)
                end.settle(.success(()))
            }
            while end.result == nil { loop.run(mode: .default, for: .milliseconds(1)) }
            keeper.invalidate()
            count = loop.jobCount
        }
        return count
    }
}

extension Pinned {
    /// Calls another actor, and does something itself after each call.
    fileprivate func call(_ other: Pinned, _ count: Int) async {
        for _ in 0..<count {
            await other.add()
            add()
        }
    }

    fileprivate func sleep() async throws { try await loop.sleep(for: .zero) }
}
