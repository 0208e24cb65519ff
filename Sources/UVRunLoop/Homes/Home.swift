/// The thread that a handler is bound to, or none.
///
/// A number and not a reference: every item has one, and counting references to a thread took as
/// long as two locks for each timer. The thread is looked up when another one has to hand it a
/// release, which is rare.
@usableFromInline
package struct Home: Equatable, Sendable {
    // The thread's identity, which has 48 bits at most; zero, which no thread has, for none. In two
    // parts, so that six bytes of every timer are enough.
    private let low: UInt32
    private let high: UInt16

    /// The largest number of a thread.
    static let largestNumber: UInt64 = 0xFFFF_FFFF_FFFF

    private var number: UInt64 {
        @inline(__always)
        get { UInt64(low) | UInt64(high) << 32 }
    }

    /// The home of what may be used and released on any thread.
    @usableFromInline package static var anywhere: Home { Home(number: 0) }

    /// The calling thread.
    @usableFromInline package static var current: Home { Home(.current) }

    package init(_ thread: ThreadIdentity) { self.init(number: thread.number) }

    @inline(__always)
    private init(number: UInt64) {
        low = UInt32(truncatingIfNeeded: number)
        high = UInt16(truncatingIfNeeded: number >> 32)
    }

    package var isAnywhere: Bool { number == 0 }

    package func isThread(_ thread: ThreadIdentity) -> Bool { number == thread.number }

    /// Whether the calling thread may use and release what has this home.
    @usableFromInline package var isHere: Bool {
        isAnywhere || ThreadRecord.isCurrent(ThreadIdentity(number: number))
    }

    /// Posts a release to the thread.
    ///
    /// - Parameter release: The release. A value that only the thread may release is captured by
    ///   pointer.
    /// - Returns: `false` if there is no such thread any more, and the caller must release the
    ///   value.
    ///
    /// > Threading: Any thread; no lock may be held.
    func post(_ release: @escaping Block) -> Bool {
        HomeThread.find(ThreadIdentity(number: number))?.post(release) ?? false
    }

    // MARK: The rule

    /// Traps unless what has this home may be called on a thread.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - caller: Returns what the message of the trap names.
    @inline(__always)
    package func check(is thread: ThreadIdentity, _ caller: () -> Caller) {
        if isAnywhere || isThread(thread) { return }
        let caller = caller()
        fail(Self.rule(for: caller.subject), file: caller.file, line: caller.line)
    }

    static func rule(for subject: String) -> String {
        """
        \(subject) has a handler that is not @Sendable, so it belongs to the thread that created \
        it. Create it on the thread whose loop serves it, or use the initialiser with a sendable \
        handler.
        """
    }
}
