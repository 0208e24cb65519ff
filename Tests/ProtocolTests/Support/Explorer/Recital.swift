/// One access of a thread to what it shares with others.
struct Step: Hashable, Sendable {
    enum Kind: UInt8, Sendable {
        case load, store, exchange, compareExchange, or, and, add, max
        case lock, unlock
        /// The kernel's event that wakes a loop: write it, wait for it, take it without waiting,
        /// close it.
        case write, wait, drain, close
    }

    enum Order: UInt8, Sendable {
        case relaxed, release, acquireRelease, sequential

        var acquires: Bool { self == .acquireRelease || self == .sequential }
        var releases: Bool { self != .relaxed }
    }

    var kind: Kind
    /// Which word or lock it is about.
    var place = 0
    var order = Order.relaxed
    var operand: UInt8 = 0
    var second: UInt8 = 0
    /// The number of what an unlock leaves behind.
    var content: UInt32 = 0
}

/// Runs a thread's program up to its next access, given what its earlier accesses returned.
///
/// A thread is a function of what it has read. So nothing needs to suspend one: its program is run
/// from the beginning with a log of results. When they are used up, the next access is what the
/// thread is about to do; the program runs on from there with zeros, and nothing of that counts.
/// Programs check ``isOver`` where they would go round in circles.
final class Recital: @unchecked Sendable {
    @TaskLocal static var underConstruction: Recital?

    let fault: Fault?
    let structure: Mutant.Structure?
    private(set) var initialValues: [UInt8] = []
    private var log: [UInt8] = []
    private var cursor = 0
    private(set) var pending: Step?
    /// The notes of the program about its steps since the latest access of the log.
    private(set) var notes: [Note] = []
    /// The notes of the program about the access that comes next.
    private(set) var callNotes: [Note] = []
    private var contents: [[UInt8]] = []
    private var contentNumbers: [[UInt8]: UInt32] = [:]

    init(fault: Fault? = nil, structure: Mutant.Structure? = nil) {
        (self.fault, self.structure) = (fault, structure)
    }

    /// Whether the program has come to its next access.
    var isOver: Bool { pending != nil }

    func addLocation(_ value: UInt64) -> Int {
        initialValues.append(UInt8(value))
        return initialValues.count - 1
    }

    func run(_ log: [UInt8], _ program: () -> Void) {
        self.log = log
        cursor = 0
        pending = nil
        notes = []
        callNotes = []
        program()
    }

    func access(_ step: Step) -> UInt64 {
        if cursor < log.count {
            let result = log[cursor]
            cursor += 1
            notes.removeAll(keepingCapacity: true)
            callNotes.removeAll(keepingCapacity: true)
            return UInt64(result)
        }
        if pending == nil { pending = step }
        return 0
    }

    /// Says what the accesses so far have come to.
    func note(_ note: Note) {
        if !isOver { notes.append(note) }
    }

    /// Says what the access that comes next begins.
    func noteCall(_ note: Note) {
        if !isOver { callNotes.append(note) }
    }

    // MARK: Locks

    /// Lends what a lock protects.
    func withLock<Result>(_ lock: Int, _ body: (inout [UInt8]) -> Result) -> Result {
        let number = access(Step(kind: .lock, place: lock))
        // At first every lock has the content of its own number.
        var value = contents[isOver ? lock : Int(number)]
        let result = body(&value)
        if !isOver { _ = access(Step(kind: .unlock, place: lock, content: intern(value))) }
        return result
    }

    func intern(_ value: [UInt8]) -> UInt32 {
        if let number = contentNumbers[value] { return number }
        let number = UInt32(contents.count)
        precondition(number < 256, "A lock has more contents than a byte can tell apart.")
        contents.append(value)
        contentNumbers[value] = number
        return number
    }

    func content(_ number: UInt8) -> [UInt8] { contents[Int(number)] }
}
