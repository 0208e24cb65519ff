import Synchronization

/// The names of all modes that this process has used, with their numbers.
///
/// A trie by the hashes of the names, four bits per level. It only grows, each time by one
/// compare-exchange. So it is read without a lock and is consistent at every moment, also in a
/// forked child.
enum ModeNames {
    /// Returns the number of a name, which is the same until the process exits.
    static func number(of name: String) -> Int {
        guard let root = unsafe UnsafePointer<Node>(bitPattern: root) else {
            fail("Bug in UVRunLoop: there is no table of mode names.")
        }
        return unsafe number(of: name, in: root)
    }

    private static func number(of name: String, in root: UnsafePointer<Node>) -> Int {
        var path = Path(name)
        var branch = unsafe root
        var made: UnsafePointer<Node>?
        while true {
            let child = unsafe branch.pointee.child(path.digit)
            guard let found = unsafe child.pointee.load(ordering: .acquiring) else {
                let leaf = unsafe made ?? makeLeaf(name)
                unsafe made = leaf
                if unsafe replace(leaf, at: child, over: nil) { return unsafe leaf.pointee.number }
                continue
            }
            if unsafe found.pointee.isBranch {
                unsafe branch = found
                path.descend()
            } else if unsafe found.pointee.name == name {
                unsafe made.map { unsafe discard($0) }
                return unsafe found.pointee.number
            } else {
                // Two names share the path so far: the existing one moves down a level.
                let below = unsafe makeBranch()
                var way = unsafe Path(found.pointee.name, level: path.level)
                way.descend()
                _ = unsafe replace(found, at: below.pointee.child(way.digit), over: nil)
                if unsafe !replace(below, at: child, over: found) { unsafe discard(below) }
            }
        }
    }

    private static let count = Atomic<Int>(0)
    /// The address of a branch with the known modes, which is never replaced; a pointer would not
    /// be `Sendable`.
    private static let root = {
        let root = unsafe makeBranch()
        for known in KnownMode.allCases {
            let number = unsafe number(of: known.name, in: root)
            assert(number == known.rawValue, "Bug in UVRunLoop: a known mode has another number.")
        }
        return UInt(bitPattern: root)
    }()

    /// The child to take at each level.
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
            // Names whose hashes are equal differ in the next hash.
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

    // MARK: Nodes

    private typealias Child = Atomic<UnsafePointer<Node>?>

    /// A name, or a branch with sixteen children.
    ///
    /// A node that was placed is never freed. It is not an object, because threads that update the
    /// reference counts of the same few objects slow each other down.
    @safe
    private struct Node {
        var name = ""
        var number = -1
        var children: UnsafeMutablePointer<Child>?

        var isBranch: Bool { unsafe children != nil }

        func child(_ digit: Int) -> UnsafeMutablePointer<Child> {
            guard let children = unsafe children else {
                fail("Bug in UVRunLoop: a mode's name was taken for a branch.")
            }
            return unsafe children + digit
        }
    }

    private static let childCount = 16

    private static func makeLeaf(_ name: String) -> UnsafePointer<Node> {
        unsafe make(Node(name: name, number: count.add(1, ordering: .relaxed).oldValue))
    }

    private static func makeBranch() -> UnsafePointer<Node> {
        let children = UnsafeMutablePointer<Child>.allocate(capacity: childCount)
        for digit in 0..<childCount { unsafe (children + digit).initialize(to: Child(nil)) }
        return unsafe make(Node(children: children))
    }

    private static func make(_ node: Node) -> UnsafePointer<Node> {
        let memory = UnsafeMutablePointer<Node>.allocate(capacity: 1)
        unsafe memory.initialize(to: node)
        return unsafe UnsafePointer(memory)
    }

    /// Frees a node that was never placed.
    private static func discard(_ node: UnsafePointer<Node>) {
        unsafe node.pointee.children?.deinitialize(count: childCount)
        unsafe node.pointee.children?.deallocate()
        let memory = unsafe UnsafeMutablePointer(mutating: node)
        unsafe memory.deinitialize(count: 1)
        unsafe memory.deallocate()
    }

    /// Replaces a node permanently; returns `false` if the expected one is not there.
    private static func replace(
        _ node: UnsafePointer<Node>,
        at child: UnsafeMutablePointer<Child>,
        over present: UnsafePointer<Node>?
    ) -> Bool {
        unsafe child.pointee.compareExchange(
            expected: present,
            desired: node,
            ordering: .acquiringAndReleasing
        ).exchanged
    }
}
