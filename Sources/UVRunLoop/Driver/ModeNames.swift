import Synchronization

/// The names of all modes that this process has used, each with its number.
///
/// A trie by the names' hashes, four bits a level. It only grows, and each step of its growth is
/// one compare-exchange: it is read without a lock, it is whole at every moment, and so a forked
/// child can go on with it.
enum ModeNames {
    /// The number of a name; the same one for as long as the process lives.
    static func number(of name: String) -> Int {
        var path = Path(name)
        var branch = root
        var made: Node?
        while true {
            let child = unsafe branch.child(path.digit)
            guard let found = unsafe child.pointee.node else {
                let leaf = made ?? Node(name, number: count.add(1, ordering: .relaxed).oldValue)
                made = leaf
                if unsafe child.pointee.place(leaf, over: nil) { return leaf.number }
                continue
            }
            if found.isBranch {
                branch = found
                path.descend()
            } else if found.name == name {
                return found.number
            } else {
                // Two names share the way so far: the one that is here goes a level down.
                let below = Node()
                var way = Path(found.name, level: path.level)
                way.descend()
                _ = unsafe below.child(way.digit).pointee.place(found, over: nil)
                _ = unsafe child.pointee.place(below, over: found)
            }
        }
    }

    private static let count = Atomic<Int>(0)
    private static let root = Node()

    /// Which child to take at each level.
    private struct Path {
        private let name: String
        private(set) var level: Int
        private var hash: UInt
        private static let levelsInHash = UInt.bitWidth / 4

        init(_ name: String, level: Int = 0) {
            self.name = name
            self.level = level
            hash = Self.hash(name, level)
        }

        var digit: Int { Int(hash >> UInt(level % Self.levelsInHash * 4) & 15) }

        mutating func descend() {
            level += 1
            // Names whose hashes are equal differ in the next one.
            if level % Self.levelsInHash == 0 { hash = Self.hash(name, level) }
        }

        private static func hash(_ name: String, _ level: Int) -> UInt {
            let round = level / levelsInHash
            guard round > 0 else { return UInt(bitPattern: name.hashValue) }
            var hasher = Hasher()
            hasher.combine(round)
            hasher.combine(name)
            return UInt(bitPattern: hasher.finalize())
        }
    }

    /// A name, or a branch with sixteen children; it is never released.
    ///
    /// Unchecked, because the children lie behind a pointer, which does not change.
    @safe
    private final class Node: @unchecked Sendable {
        let name: String
        let number: Int
        private let children: UnsafeMutablePointer<Child>?

        init(_ name: String, number: Int) {
            (self.name, self.number) = (name, number)
            unsafe children = nil
        }

        init() {
            (name, number) = ("", -1)
            let children = UnsafeMutablePointer<Child>.allocate(capacity: 16)
            for digit in 0..<16 { unsafe (children + digit).initialize(to: Child()) }
            unsafe self.children = children
        }

        var isBranch: Bool { unsafe children != nil }

        func child(_ digit: Int) -> UnsafeMutablePointer<Child> {
            guard let children = unsafe children else {
                fail("Bug in UVRunLoop: a mode's name was taken for a branch.")
            }
            return unsafe children + digit
        }

        deinit {
            // Only a node that was never placed: its children are nobody's.
            unsafe children?.deinitialize(count: 16)
            unsafe children?.deallocate()
        }
    }

    @safe
    private struct Child: ~Copyable {
        private let content = unsafe Atomic<Unmanaged<Node>?>(nil)

        var node: Node? { unsafe content.load(ordering: .acquiring)?.takeUnretainedValue() }

        /// Puts a node in the place of another one, for good; `false` if that is not there.
        func place(_ node: Node, over present: Node?) -> Bool {
            let new = unsafe Unmanaged.passRetained(node)
            let (isPlaced, _) = unsafe content.compareExchange(
                expected: present.map { unsafe Unmanaged.passUnretained($0) },
                desired: new,
                ordering: .acquiringAndReleasing
            )
            if !isPlaced { unsafe new.release() }
            return isPlaced
        }
    }
}
