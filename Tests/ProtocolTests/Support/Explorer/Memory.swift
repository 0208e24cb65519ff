/// The shared memory of the threads at one moment, and the progress of each, in one flat value.
///
/// Words follow C11's release and acquire: a word is a list of messages, the stores that some
/// thread may still read, oldest first. A thread has a view, for each word the oldest message that
/// it may read; a load reads any from there on, so that stores become visible late. What a
/// releasing operation stores carries its thread's view, and who acquires it takes that over. Read,
/// modify and write is one step on the latest message, also where a comparison fails, as the
/// machine's instructions do it. A sequentially consistent load reads nothing older than the latest
/// sequentially consistent store. Locks carry views as well; the kernel's event carries none.
struct Memory {
    static let mostThreads = 3
    static let mostWords = 7 + 2 * ModelSegments.count
    static let mostLocks = 3
    private static let mostMessages = 16

    enum Event: UInt8 {
        case clear, written, closed
    }

    /// Where each thread's program stands.
    var nodes: InlineArray<3, UInt32> = .init(repeating: 0)
    /// The memory of the oracle.
    var ghost: UInt32 = 0
    private var bytes: InlineArray<3976, UInt8> = .init(repeating: 0)

    // MARK: Where it lies

    private static let lockBase = mostThreads * mostWords
    private static let lockSize = 2 + mostWords
    private static let eventPlace = lockBase + mostLocks * lockSize
    /// A multiple of eight, as is the size of a message.
    private static let wordBase = (eventPlace + 2 + 7) & ~7
    private static let messageSize = 1 + mostWords
    private static let wordSize = 2 + mostMessages * messageSize

    private static func view(_ thread: Int) -> Int { thread * mostWords }
    private static func word(_ word: Int) -> Int { wordBase + word * wordSize }
    private static func message(_ word: Int, _ index: Int) -> Int {
        self.word(word) + 2 + index * messageSize
    }
    private static func lock(_ lock: Int) -> Int { lockBase + lock * lockSize }

    init(words: [UInt8], locks: [UInt8], spuriousWakes: UInt8) {
        for (word, value) in words.enumerated() {
            bytes[Self.word(word)] = 1
            bytes[Self.message(word, 0)] = value
        }
        for (lock, content) in locks.enumerated() { bytes[Self.lock(lock) + 1] = content }
        bytes[Self.eventPlace + 1] = spuriousWakes
    }

    // MARK: Words

    private func count(_ word: Int) -> Int { Int(bytes[Self.word(word)]) }

    /// Whether there is no room for one more message.
    func isFull(_ word: Int) -> Bool { count(word) == Self.mostMessages }

    /// The latest value of a word.
    func latest(_ word: Int) -> UInt8 { bytes[Self.message(word, count(word) - 1)] }

    /// The messages that a load may read, as indices.
    func readable(_ thread: Int, _ word: Int, _ order: Step.Order) -> Range<Int> {
        var first = bytes[Self.view(thread) + word]
        if order == .sequential { first = max(first, bytes[Self.word(word) + 1]) }
        return Int(first)..<count(word)
    }

    mutating func read(_ thread: Int, _ word: Int, _ index: Int, _ order: Step.Order) -> UInt8 {
        let message = Self.message(word, index)
        if order.acquires { joinView(thread, from: message + 1) }
        let place = Self.view(thread) + word
        bytes[place] = max(bytes[place], UInt8(index))
        return bytes[message]
    }

    /// Stores a value; chained to the latest one if the store is that of a read-modify-write, which
    /// passes on the view of what it has read.
    mutating func write(
        _ thread: Int,
        _ word: Int,
        _ value: UInt8,
        _ order: Step.Order,
        chained: Bool
    ) {
        let index = count(word)
        let message = Self.message(word, index)
        bytes[Self.word(word)] = UInt8(index + 1)
        bytes[Self.view(thread) + word] = UInt8(index)
        bytes[message] = value
        for other in 0..<Self.mostWords {
            var time = order.releases ? bytes[Self.view(thread) + other] : 0
            if chained {
                time = max(time, bytes[Self.message(word, index - 1) + 1 + other])
            }
            bytes[message + 1 + other] = time
        }
        bytes[message + 1 + word] = UInt8(index)
        if order == .sequential { bytes[Self.word(word) + 1] = UInt8(index) }
    }

    private mutating func joinView(_ thread: Int, from place: Int) {
        for word in 0..<Self.mostWords {
            let own = Self.view(thread) + word
            bytes[own] = max(bytes[own], bytes[place + word])
        }
    }

    // MARK: Locks

    func isFree(_ lock: Int) -> Bool { bytes[Self.lock(lock)] == 0 }

    func content(_ lock: Int) -> UInt8 { bytes[Self.lock(lock) + 1] }

    mutating func take(_ lock: Int, _ thread: Int) -> UInt8 {
        bytes[Self.lock(lock)] = 1
        joinView(thread, from: Self.lock(lock) + 2)
        return content(lock)
    }

    mutating func release(_ lock: Int, _ thread: Int, _ content: UInt8) {
        bytes[Self.lock(lock)] = 0
        bytes[Self.lock(lock) + 1] = content
        for word in 0..<Self.mostWords {
            bytes[Self.lock(lock) + 2 + word] = bytes[Self.view(thread) + word]
        }
    }

    // MARK: The kernel

    var event: Event {
        get { Event(rawValue: bytes[Self.eventPlace]) ?? .clear }
        set { bytes[Self.eventPlace] = newValue.rawValue }
    }

    /// How often a wait may still end for another reason than the event.
    var spuriousWakes: UInt8 {
        get { bytes[Self.eventPlace + 1] }
        set { bytes[Self.eventPlace + 1] = newValue }
    }

    // MARK: Equal states

    /// Which threads load words, as bits, so that messages which nobody can read are forgotten.
    struct Loaders {
        /// By word: threads that load it in any order.
        var any: [UInt8]
        /// By word: threads whose loads of it are all sequentially consistent.
        var sequential: [UInt8]
    }

    /// Forgets messages that no thread can read any more.
    ///
    /// The views of threads that load nothing of a word are brought forward to the oldest message
    /// that is left, which says nothing to those that do: their views are not behind it.
    mutating func normalize(_ loaders: borrowing Loaders, running: UInt8) {
        for word in 0..<Self.mostWords where count(word) > 1 {
            var oldest = UInt8(count(word) - 1)
            for thread in 0..<Self.mostThreads where running & 1 << UInt8(thread) != 0 {
                let bit: UInt8 = 1 << UInt8(thread)
                let view = bytes[Self.view(thread) + word]
                if loaders.any[word] & bit != 0 {
                    oldest = min(oldest, view)
                } else if loaders.sequential[word] & bit != 0 {
                    oldest = min(oldest, max(view, bytes[Self.word(word) + 1]))
                }
            }
            if oldest > 0 { forget(Int(oldest), of: word) }
        }
    }

    /// A thread that has ended has no view any more.
    mutating func retire(_ thread: Int) {
        for word in 0..<Self.mostWords { bytes[Self.view(thread) + word] = 0 }
    }

    private mutating func forget(_ forgotten: Int, of word: Int) {
        let kept = count(word) - forgotten
        for index in 0..<kept {
            for offset in 0..<Self.messageSize {
                bytes[Self.message(word, index) + offset] =
                    bytes[Self.message(word, index + forgotten) + offset]
            }
        }
        for index in kept..<(kept + forgotten) {
            for offset in 0..<Self.messageSize { bytes[Self.message(word, index) + offset] = 0 }
        }
        bytes[Self.word(word)] = UInt8(kept)
        lower(Self.word(word) + 1, by: forgotten)
        for thread in 0..<Self.mostThreads { lower(Self.view(thread) + word, by: forgotten) }
        for lock in 0..<Self.mostLocks { lower(Self.lock(lock) + 2 + word, by: forgotten) }
        for other in 0..<Self.mostWords {
            for index in 0..<count(other) {
                lower(Self.message(other, index) + 1 + word, by: forgotten)
            }
        }
    }

    private mutating func lower(_ place: Int, by difference: Int) {
        bytes[place] = UInt8(max(0, Int(bytes[place]) - difference))
    }

    /// A number by which states are told apart, as good as certainly.
    var fingerprint: UInt64 {
        var (first, second): (UInt64, UInt64) = (0x9E37_79B9_7F4A_7C15, 0x2545_F491_4F6C_DD1D)
        func mix(_ word: UInt64) {
            first = (first ^ word) &* 0x9FB2_1C65_1E98_DF25
            first ^= first >> 29
            second = (second &+ word ^ first) &* 0xD6E8_FEB8_6659_FD93
            second ^= second >> 32
        }
        mix(UInt64(nodes[0]) << 32 | UInt64(nodes[1]))
        mix(UInt64(nodes[2]) << 32 | UInt64(ghost))
        bytes.span.withUnsafeBytes { bytes in
            func add(from start: Int, count: Int) {
                for place in stride(from: start, to: start + count, by: 8) {
                    mix(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                }
            }
            add(from: 0, count: Self.wordBase)
            for word in 0..<Self.mostWords {
                let place = Self.word(word)
                mix(UInt64(bytes[place]) << 8 | UInt64(bytes[place + 1]))
                add(from: place + 2, count: Int(bytes[place]) * Self.messageSize)
            }
        }
        let mixed = (first ^ second &* 0x94D0_49BB_1331_11EB)
        return max(1, mixed ^ (mixed >> 31))
    }
}
