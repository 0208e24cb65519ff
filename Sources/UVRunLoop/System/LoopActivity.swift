internal import CUVSupport
import Synchronization

/// What a loop's thread is doing, in one word that any thread may read.
///
/// It is kept up only while something watches. The loop's thread writes it, one atomic store before
/// each handler that it calls and one after it: the word says that a handler runs, and the item is
/// there, only while the handler is on the stack.
///
/// Unchecked: the item is used by the loop's thread alone.
@safe
final class LoopActivity: @unchecked Sendable {
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

    /// What the thread was doing before something that is nested in it.
    @safe
    struct Call {
        fileprivate let code: UInt8
        /// Valid as long as its handler is on the stack.
        fileprivate let item: UnsafeMutableRawPointer?
    }

    private let state: UnsafeMutablePointer<cuv_activity>
    /// The system's ID of the loop's thread; set by that thread.
    let systemThread = Atomic<Int32>(0)

    init() {
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: cuv_activity(word: 0, item: nil))
    }

    deinit { unsafe state.deallocate() }

    var word: Word { Word(bits: unsafe cuv_activity_word(state)) }

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
    private static let capturing = PerProcess { Capturing() }

    private final class Capturing: Sendable {
        let lock = Guarded<Void>(())
    }

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
        let status = Self.capturing.current.lock.withLock { _ in
            unsafe cuv_stack_capture(system, identity, state, expected.bits, &stack)
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

    // MARK: The loop's thread

    /// Notes the ID of the calling thread, which is the loop's, and accepts the signal for
    /// ``capture(_:of:)``.
    func noteThread() {
        systemThread.store(cuv_thread_id(), ordering: .relaxed)
        cuv_stacks_accept()
    }

    /// Begins something.
    func begin(_ code: UInt8, _ item: AnyObject?) {
        let address = unsafe item.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
        unsafe cuv_activity_set(state, word.next(code).bits, address)
    }

    /// What the thread is doing now.
    var call: Call { unsafe Call(code: word.code, item: state.pointee.item) }

    /// Goes on with something that was interrupted; its time begins anew.
    func resume(_ call: Call) {
        unsafe cuv_activity_set(state, word.next(call.code).bits, call.item)
    }
}
