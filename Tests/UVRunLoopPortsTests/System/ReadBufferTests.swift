import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The buffers shared by all ports.
@Suite(.timeLimit(.minutes(15))) struct ReadBufferTests {
    @Test func buffersThatAreLentAtTheSameTimeAreDifferent() {
        // More than the pool keeps.
        #expect(Set(addresses(lending: 40)).count == 40)
        #expect(Set(addresses(lending: 40)).count == 40)
    }

    @Test func aThreadThatReadsOneByOneUsesOneBuffer() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                let used = Set((0..<100).flatMap { _ in addresses(lending: 1) })
                precondition(used.count == 1, "\(used.count) buffers.")
            }
        }
    }

    @Test func noTwoThreadsHaveABufferAtTheSameTime() {
        let damaged = Guarded(0)
        let threads = (0..<8).map { number in
            startUncheckedThread {
                for _ in 0..<2_000 {
                    let isWhole = ReadBuffer.lend { buffer in
                        let mine = UInt8(number)
                        buffer[0] = mine
                        buffer[buffer.count - 1] = mine
                        sched_yield()
                        return buffer[0] == mine && buffer[buffer.count - 1] == mine
                    }
                    if !isWhole { damaged.withLock { $0 += 1 } }
                }
            }
        }
        threads.forEach { $0.join() }
        #expect(damaged.withLock { $0 } == 0)
    }

    /// The sanitizer's own locks are inherited while held.
    @Test(.enabled(if: !isUnderThreadSanitizer))
    func aChildForkedWhileThreadsReadCanRead() async {
        await #expect(processExitsWith: .success) { forkWhileThreadsRead(100) }
    }
}

/// The addresses of buffers that are lent at the same time.
private func addresses(lending count: Int) -> [UInt] {
    guard count > 0 else { return [] }
    return ReadBuffer.lend { buffer in
        [UInt(bitPattern: buffer.baseAddress)] + addresses(lending: count - 1)
    }
}

private func forkWhileThreadsRead(_ count: Int) {
    // The Swift runtime initialises lazily under its own locks, which a child could inherit.
    _ = addresses(lending: 20)
    let isDone = Guarded(false)
    let threads = (0..<4).map { _ in
        startUncheckedThread {
            while !isDone.withLock({ $0 }) {
                for _ in 0..<100 { _ = addresses(lending: 3) }
            }
        }
    }
    for number in 0..<count {
        let status = inChild(endingAfter: 120) {
            // More than the pool keeps, so that every slot is tried.
            addresses(lending: 20).count == 20 ? 0 : 1
        }
        precondition(status == 0, "Child \(number) ended with \(status).")
    }
    isDone.withLock { $0 = true }
    threads.forEach { $0.join() }
}
