import Testing

@testable import UVRunLoop

/// The one consumer of a sequence, which a task may take over from one that was cancelled.
@Suite(.timeLimit(.minutes(15))) struct ConsumerTests {
    @Test func cancellingATaskThatHasItsElementEndsNoOtherWait() throws {
        let (slot, isBusy, goOn) = (EventSlot<Int>(merging: +), Signal(), Signal())
        try withTwoLoops { busy, other in
            let first = wait(for: slot, on: busy)
            // Once the first task waits, the thread that it is to go on on has no time.
            Task(executorPreference: busy.taskExecutor) {
                isBusy.send()
                waitInThread(for: goOn)
            }
            isBusy.wait()
            #expect(slot.deliver(1))
            let second = wait(for: slot, on: other)
            awaitJobs(of: other)
            first.task.cancel()
            #expect(slot.deliver(2))
            goOn.send()
            #expect(first.element() == 1)
            #expect(second.element() == 2)
        }
    }

    @Test func aTaskThatIsCancelledBeforeItWaitsIsNoConsumer() throws {
        let intake = SharedIntake()
        try withTwoLoops { loop, other in
            let second = intake.wait(on: other)
            awaitJobs(of: other)
            // Its look for an element came before its cancellation, and its wait comes after that.
            let first = intake.wait(on: loop, isCancelled: true)
            #expect(first.element() == nil)
            intake.offer(3)
            #expect(second.element() == 3)
        }
    }

    @Test func whatIsKeptWhenACancelledTaskWouldWaitStays() throws {
        let intake = SharedIntake()
        try withTwoLoops { loop, other in
            intake.offer(4)
            #expect(intake.wait(on: loop, isCancelled: true).element() == nil)
            #expect(intake.wait(on: other).element() == 4)
        }
    }

    @Test func aTaskThatIsCancelledBeforeItWaitsEndsNoUseOfTheLatestElement() throws {
        let slot = EventSlot<Int>(merging: +)
        try withTwoLoops { loop, other in
            let second = wait(for: slot, on: other)
            awaitJobs(of: other)
            #expect(slot.deliver(5))
            #expect(second.element() == 5)
            // Its look for an element came before that of the other task.
            let first = Consumer(on: loop) {
                withUnsafeCurrentTask { unsafe $0?.cancel() }
                return await slot.wait(on: nil, isolation: nil) {}
            }
            #expect(first.element() == nil)
            #expect(slot.isInUse)
        }
    }

    @Test func anElementThatIsKeptWhenATaskWouldWaitIsInUse() throws {
        let slot = EventSlot<Int>(merging: +)
        try withTwoLoops { loop, _ in
            slot.deliver(6)
            let consumer = Consumer(on: loop) { await slot.wait(on: nil, isolation: nil) {} }
            #expect(consumer.element() == 6)
            #expect(slot.isInUse)
        }
    }

    private func withTwoLoops(_ body: (UVRunLoop, UVRunLoop) throws -> Void) throws {
        let threads = (try startLoopThread(), try startLoopThread())
        try body(threads.0.runLoop, threads.1.runLoop)
        for thread in [threads.0, threads.1] {
            thread.stop()
            thread.join()
        }
    }

    private func wait(for slot: EventSlot<Int>, on loop: UVRunLoop) -> Consumer {
        Consumer(on: loop) { await slot.next(on: nil, isolation: nil) {} }
    }
}

/// Waits until a loop has performed the jobs that it has.
private func awaitJobs(of loop: UVRunLoop) {
    let isDone = Signal()
    Task(executorPreference: loop.taskExecutor) { isDone.send() }
    isDone.wait()
}

/// An intake that tasks wait for without a look before.
private final class SharedIntake: Sendable {
    private let intake = Guarded(TaskIntake<Int, Never>())

    func offer(_ element: Int) { intake.withLock { $0.offer(element) }?.perform() }

    func wait(on loop: UVRunLoop, isCancelled: Bool = false) -> Consumer {
        Consumer(on: loop) { [self] in
            if isCancelled { withUnsafeCurrentTask { unsafe $0?.cancel() } }
            let outcome: Result<Int?, Never> = await UVRunLoop.suspend(on: nil, isolation: nil) {
                task in
                intake.withLock { $0.begin(task) }?.perform()
            } onCancel: { wait in
                intake.withLock { $0.cancel(wait) }?.perform()
            }
            return outcome.get()
        }
    }
}

/// A task that takes one element.
private struct Consumer {
    let task: Task<Void, Never>
    private let taken = SharedBox<Int?>(nil)
    private let isDone = Signal()

    init(on loop: UVRunLoop, _ take: @escaping @Sendable () async -> Int?) {
        task = Task(executorPreference: loop.taskExecutor) { [taken, isDone] in
            taken.value = await take()
            isDone.send()
        }
    }

    /// Waits until the task has what it gets.
    func element() -> Int? {
        isDone.wait()
        return taken.value
    }
}
