internal import CUVSupport
import Synchronization

/// The activity of a loop's thread, in one word that any thread may read.
///
/// It is kept up only while something watches. The loop's thread writes the item and the word before
/// each handler that it calls and after it, and when a pass or a sleep begins: the word says that a
/// handler runs, and the item is there, only while the handler is on the stack.
final class LoopActivity: Sendable {
    /// A code for what is done, and when it began.
    struct Word: Equatable {
        fileprivate let bits: UInt64

        fileprivate init(bits: UInt64) { self.bits = bits }

        var code: UInt8 { UInt8(bits & 15) }

        /// When it began, in milliseconds of the monotonic clock, to the system's tick.
        var began: Int64 { Int64(bits >> 24) }

        /// A word for the same, which begins now; no two successive words are equal.
        fileprivate func next(_ code: UInt8) -> Word {
            let count = (bits >> 4 &+ 1) & 0xF_FFFF
            return Word(bits: UInt64(LoopActivity.coarseTime) << 24 | count << 4 | UInt64(code))
        }
    }

    /// The thread's activity before another one that is nested in it.
    struct Call {
        let code: UInt8
        fileprivate let item: UInt

        /// An activity, of an item or of none.
        init(_ code: UInt8, item: UInt = 0) { (self.code, self.item) = (code, item) }
    }

    private let state = Atomic<UInt64>(0)
    /// The address of the item whose handler runs, zero for none.
    ///
    /// It is valid on the loop's thread alone, its signal handlers included, as long as the handler
    /// is on the stack.
    private let item = Atomic<UInt>(0)
    /// The system's ID of the loop's thread; set by that thread.
    let systemThread = Atomic<Int32>(0)

    var word: Word { Word(bits: state.load(ordering: .acquiring)) }

    /// Whether an item is the one whose handler runs.
    func isOf(_ object: AnyObject) -> Bool {
        item.load(ordering: .relaxed) == UInt(bitPattern: ObjectIdentifier(object))
    }

    /// Milliseconds of the monotonic clock at the system's latest tick.
    static var coarseTime: Int64 { cuv_coarse_time() / 1_000_000 }

    /// How many milliseconds may lie between the tick and the present.
    static var tick: Int64 { cuv_coarse_resolution() / 1_000_000 + 1 }

    // MARK: The stack

    /// The stack of the loop's thread, and the item whose handler runs.
    struct Capture {
        /// The program counter, then the return addresses.
        let frames: [UInt]
        let item: AnyObject?
    }

    /// Prepares ``capture(_:of:)``; without a free signal there are no stacks.
    static func prepareCapture() { _ = isPrepared }

    private static let isPrepared: Bool = cuv_stacks_prepare() == 0
    /// One capture at a time.
    private static let capturing = GuardedPerProcess<Void> { () }

    /// Has the loop's thread capture its stack.
    ///
    /// - Parameters:
    ///   - expected: What the thread was found to be doing.
    ///   - identity: The number of the loop's thread.
    /// - Returns: `nil` if it does something else by now. Without frames if the stack cannot be
    ///   captured.
    func capture(_ expected: Word, of identity: UInt64) -> Capture? {
        var stack = unsafe cuv_stack()
        let system = systemThread.load(ordering: .relaxed)
        let status = Self.capturing.withLock { _ in
            unsafe withPointers { activity in
                unsafe cuv_stack_capture(system, identity, activity, expected.bits, &stack)
            }
        }
        guard status == 0 else {
            return status == -ESTALE ? nil : Capture(frames: [], item: nil)
        }
        let item = unsafe stack.item.map {
            unsafe Unmanaged<AnyObject>.fromOpaque($0).takeRetainedValue()
        }
        let count = unsafe Int(stack.count)
        let frames = unsafe withUnsafeBytes(of: &stack.frames) {
            unsafe Array($0.bindMemory(to: UInt.self).prefix(count))
        }
        return Capture(frames: frames, item: item)
    }

    private func withPointers<Result>(_ body: (cuv_activity) -> Result) -> Result {
        unsafe withUnsafePointer(to: state) { state in
            unsafe withUnsafePointer(to: item) { item in
                let word = unsafe UnsafeRawPointer(state).assumingMemoryBound(to: UInt64.self)
                let address = unsafe UnsafeRawPointer(item).assumingMemoryBound(to: UInt.self)
                return unsafe body(cuv_activity(word: word, item: address))
            }
        }
    }

    // MARK: The loop's thread

    /// Sets the ID of the calling thread, which is the loop's, and accepts the signal for
    /// ``capture(_:of:)``.
    func setThread() {
        systemThread.store(cuv_thread_id(), ordering: .relaxed)
        cuv_stacks_accept()
    }

    /// Begins something.
    func begin(_ code: UInt8, _ item: AnyObject?) {
        let address = item.map {
            unsafe UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque())
        }
        set(code, item: address ?? 0)
    }

    /// The thread's present activity.
    var call: Call { Call(word.code, item: item.load(ordering: .relaxed)) }

    /// Goes on with something that was interrupted; its time begins anew.
    func resume(_ call: Call) {
        set(call.code, item: call.item)
    }

    private func set(_ code: UInt8, item address: UInt) {
        item.store(address, ordering: .relaxed)
        state.store(word.next(code).bits, ordering: .releasing)
    }
}
