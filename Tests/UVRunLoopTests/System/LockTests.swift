import Testing

@testable import UVRunLoop

/// Locks that are held for long, in a process that was forked.
@Suite(.timeLimit(.minutes(15))) struct LockTests {
    /// On a busy machine it may be kept from running meanwhile.
    @Test func aThreadOfTheChildMayHoldALockForSeconds() async {
        await #expect(processExitsWith: .success) {
            // The first loop begins to count forks.
            onAnotherThread { _ = UVRunLoop.current }
            inQuietProcess {
                let number = Guarded(1)
                let isHeld = Signal()
                let holder = startThread {
                    number.withLock { number in
                        isHeld.send()
                        letTimePass(.milliseconds(4_500))
                        number += 1
                    }
                }
                isHeld.wait()
                precondition(number.withLock { $0 } == 2)
                holder.join()
            }
        }
    }

    @Test func aChildWithoutThreadsTrapsAtALockOfItsParents() async {
        await #expect(processExitsWith: .success) {
            // The first loop begins to count forks.
            onAnotherThread { _ = UVRunLoop.current }
            let number = Guarded(1)
            let (isHeld, mayRelease) = (Signal(), Signal())
            let holder = startThread {
                number.withLock { _ in
                    isHeld.send()
                    mayRelease.wait()
                }
            }
            isHeld.wait()
            precondition(trapsInChild { number.withLock { $0 += 1 } })
            mayRelease.send()
            holder.join()
        }
    }
}
