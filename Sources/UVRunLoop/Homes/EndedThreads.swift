internal import CUVSupport

/// Keeps the records of ending threads until the threads are gone.
final class EndedThreads: Sendable {
    private struct List {
        var records: [EndedRecord] = []
        /// The next to be checked.
        var next = 0

        /// Removes a record of a thread that is gone, if one of the next few is.
        mutating func takeGone(_ checksLeft: inout Int) -> EndedRecord? {
            checksLeft = min(checksLeft, records.count)
            while checksLeft > 0 {
                checksLeft -= 1
                if next >= records.count { next = 0 }
                if records[next].threadIsGone {
                    records.swapAt(next, records.count - 1)
                    return records.removeLast()
                }
                next += 1
            }
            return nil
        }

        /// Removes the record of a loop's thread.
        mutating func take(of loop: UVRunLoop) -> EndedRecord? {
            records.firstIndex { $0.isOf(loop) }.map { records.remove(at: $0) }
        }
    }

    static let shared = PerProcess { EndedThreads() }

    private let list = Guarded(List())
    /// A few at a time, in turn, so that the cost does not depend on how many threads are ending.
    private static let checksAtOnce = 8

    /// Takes over a thread's record, and releases records of threads that are gone.
    func add(_ record: EndedRecord) {
        releaseGone()
        list.withLock { $0.records.append(record) }
    }

    /// Releases records of threads that are gone.
    func releaseGone() {
        var checksLeft = Self.checksAtOnce
        while let record = list.withLock({ $0.takeGone(&checksLeft) }) { record.release() }
    }

    /// Releases the record of a thread that was joined, if it is kept still.
    func releaseJoined(of loop: UVRunLoop) {
        list.withLock { $0.take(of: loop) }?.release()
    }
}

/// The record of an ending thread, which is retained.
struct EndedRecord {
    private let thread: pid_t
    /// The addresses of the thread's thread-local variable and of the record; numbers, because they
    /// may not be followed.
    private let slot: UInt
    private let record: UInt
    private let loop: ObjectIdentifier?

    init(_ record: ThreadRecord, _ pointer: UnsafeMutableRawPointer) {
        thread = record.systemThread
        loop = record.loop.map(ObjectIdentifier.init)
        slot = unsafe UInt(bitPattern: cuv_current_thread())
        self.record = UInt(bitPattern: pointer)
    }

    /// Whether the thread is gone, and no destructor on it uses the record any more.
    var threadIsGone: Bool {
        // A thread that starts when another has ended mostly gets its stack, and with that its
        // thread-local variables. The system need not be asked then.
        unsafe isMemoryReused(by: cuv_current_thread()) || cuv_is_thread_gone(thread) != 0
    }

    /// Whether it is the record of a loop's thread, which keeps the loop.
    func isOf(_ loop: UVRunLoop) -> Bool { self.loop == ObjectIdentifier(loop) }

    /// Whether another thread's variable is where the thread's was.
    private func isMemoryReused(by current: UnsafeMutablePointer<cuv_thread>) -> Bool {
        unsafe slot == UInt(bitPattern: current)
            && record != UInt(bitPattern: current.pointee.record)
    }

    func release() {
        guard let pointer = unsafe UnsafeRawPointer(bitPattern: record) else { return }
        unsafe Unmanaged<ThreadRecord>.fromOpaque(pointer).release()
    }
}
