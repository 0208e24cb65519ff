import Glibc
import Synchronization
import Testing

@testable import UVRunLoop

/// Destructors of other thread-specific keys, which run before and after the library's own.
///
/// Each test has a process of its own: which key comes first is settled when a process makes its
/// first loop.
@Suite(.timeLimit(.minutes(15))) struct ThreadKeyTests {
    @Test(
        .disabled(
            if: isUnderThreadSanitizer,
            "The sanitizer leaves a thread before the last round."
        )
    )
    func destructorsBeforeAndAfterOursSeeTheSameLoopInEveryRound() async {
        await #expect(processExitsWith: .success) { inQuietProcess { checkTheLoopInEveryRound() } }
    }

    /// The thread's record is then kept until the thread is gone.
    ///
    /// A thread that gets a loop searches for records of threads that are gone, and must not count
    /// itself as gone.
    @Test(
        .disabled(
            if: isUnderThreadSanitizer,
            "The sanitizer leaves a thread before the last round."
        )
    )
    func aThreadThatGetsItsLoopInTheLastRoundKeepsIt() async {
        await #expect(processExitsWith: .success) { inQuietProcess { makeALoopInTheLastRound() } }
    }

    @Test func aLoopThatADestructorMakesInTheFirstRoundLeavesNoDescriptorBehind() async {
        await #expect(processExitsWith: .success) { inQuietProcess { makeALoop(inRound: 1) } }
    }

    @Test func aLoopThatADestructorMakesInTheSecondRoundLeavesNoDescriptorBehind() async {
        await #expect(processExitsWith: .success) { inQuietProcess { makeALoop(inRound: 2) } }
    }

    /// A thread that had a timer, but no loop before.
    @Test(arguments: [1, 2, 3])
    func aLoopThatADestructorMakesLateLeavesNoDescriptorBehind(round: Int) async {
        await #expect(processExitsWith: .success) { [round] in
            inQuietProcess { makeALoop(inRound: round, ofThreadWithTimer: true) }
        }
    }

    @Test func aDestructorMayRunTheLoopWhileOthersAreStillToCome() async {
        await #expect(processExitsWith: .success) { inQuietProcess { runInADestructor() } }
    }
}

/// The action of a key's destructor in each of its rounds.
private final class Visit {
    let key: pthread_key_t
    let rounds: Int
    let action: (Int) -> Void
    private var round = 0

    init(_ key: pthread_key_t, rounds: Int, _ action: @escaping (Int) -> Void) {
        self.key = key
        self.rounds = rounds
        self.action = action
    }

    static func makeKey() -> pthread_key_t {
        var key = pthread_key_t()
        let status = pthread_key_create(&key) { pointer in
            guard let pointer else { return }
            Unmanaged<Visit>.fromOpaque(pointer).takeUnretainedValue().come(pointer)
        }
        precondition(status == 0)
        return key
    }

    func begin() {
        pthread_setspecific(key, Unmanaged.passRetained(self).toOpaque())
    }

    private func come(_ pointer: UnsafeMutableRawPointer) {
        round += 1
        action(round)
        if round < rounds {
            pthread_setspecific(key, pointer)
        } else {
            Unmanaged<Visit>.fromOpaque(pointer).release()
        }
    }
}

/// glibc goes through the keys in the order in which they were made, four times.
private func checkTheLoopInEveryRound() {
    let before = Visit.makeKey()
    onAnotherThread { _ = UVRunLoop.current }
    let after = Visit.makeKey()
    let descriptors = openDescriptorCount()
    let log = EventLog()
    onAnotherThread {
        let loop = UVRunLoop.current
        for (name, key) in [("before", before), ("after", after)] {
            let visit = Visit(key, rounds: 4) { round in
                let isSame = UVRunLoop.current === loop
                let isIsolated = loop.isIsolatingCurrentContext() == true
                log.note("\(round) \(name) \(isSame ? "same" : "another") \(isIsolated)")
                UVRunLoop.current.wakeUp()
                UVRunLoop.current.perform {}
                _ = UVRunLoop.Timer(after: .zero) { _ in }
            }
            visit.begin()
        }
    }
    // In the second round, ours ends the loop, whose actors go on elsewhere.
    let expected = (1...4).flatMap {
        ["\($0) before same \($0 < 3)", "\($0) after same \($0 < 2)"]
    }
    precondition(log.entries == expected, "\(log.entries)")
    precondition(openDescriptorCount() == descriptors)
}

private func makeALoop(inRound loopRound: Int, ofThreadWithTimer hasTimer: Bool = false) {
    let before = Visit.makeKey()
    onAnotherThread { _ = UVRunLoop.current }
    let after = Visit.makeKey()
    let descriptors = openDescriptorCount()
    // In the third round, which is the last, a loop may be made before ours.
    for key in loopRound == 3 ? [before] : [before, after] {
        onAnotherThread {
            if hasTimer { _ = UVRunLoop.Timer(after: .zero) { _ in } }
            let visit = Visit(key, rounds: loopRound) { round in
                guard round == loopRound else { return }
                let loop = UVRunLoop.current
                precondition(UVRunLoop.current === loop)
            }
            visit.begin()
        }
    }
    let left = openDescriptorCount() - descriptors
    precondition(left == 0, "\(left) descriptors were left behind.")
}

private func makeALoopInTheLastRound() {
    onAnotherThread { _ = UVRunLoop.current }
    let key = Visit.makeKey()
    let log = EventLog()
    onAnotherThread {
        // A timer needs the thread's record, but no loop.
        _ = UVRunLoop.Timer(after: .zero) { _ in }
        let visit = Visit(key, rounds: 4) { round in
            guard round == 4 else { return }
            let loop = UVRunLoop.current
            loop.perform { log.note("block") }
            log.note("\(loop.run(mode: .default, for: nil))")
            precondition(UVRunLoop.current === loop)
        }
        visit.begin()
    }
    precondition(log.entries == ["block", "finished"], "\(log.entries)")
}

private func runInADestructor() {
    let before = Visit.makeKey()
    onAnotherThread { _ = UVRunLoop.current }
    let after = Visit.makeKey()
    let log = EventLog()
    onAnotherThread {
        for (name, key) in [("before", before), ("after", after)] {
            let visit = Visit(key, rounds: 1) { _ in
                let loop = UVRunLoop.current
                let timer = UVRunLoop.Timer(after: .microseconds(200)) { _ in log.note(name) }
                loop.add(timer, forMode: .default)
                let result = withHangGuard { loop.run(mode: .default, for: nil) }
                log.note("\(result)")
            }
            visit.begin()
        }
        _ = UVRunLoop.current
    }
    precondition(log.entries == ["before", "finished", "after", "finished"], "\(log.entries)")
}
