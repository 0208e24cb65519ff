/// Where a thread may stand: a tree for each of its states that are known whole, with a branch for
/// each result of an access.
///
/// Every node is found by running the program once; from then on it is a number.
class ThreadNodes {
    struct Node {
        fileprivate let root: Int
        fileprivate let log: [UInt8]
        /// The next step of the thread; `nil` at its end.
        let step: Step?
        /// The number of what it says when it does so.
        let callNotes: Int
        fileprivate var edges: [UInt8: Edge] = [:]
    }

    struct Edge {
        let target: UInt32
        /// The number of what the thread says then.
        let notes: Int
    }

    let recital: Recital
    let notebook: Notebook
    private(set) var nodes: [Node] = []
    private var rootNodes: [Int: UInt32] = [:]

    init(recital: Recital, notebook: Notebook) {
        self.recital = recital
        self.notebook = notebook
    }

    /// Runs the program from a state, with a log in the recital; returns the state after it, where
    /// the program has come that far.
    func advance(from root: Int) -> Int { preconditionFailure("Overridden.") }

    func isEnd(_ root: Int) -> Bool { preconditionFailure("Overridden.") }

    final var start: UInt32 { rootNode(0) }

    final func edge(_ node: UInt32, _ result: UInt8) -> Edge {
        let found = nodes[Int(node)]
        if let edge = found.edges[result] { return edge }
        let edge = makeEdge(root: found.root, log: found.log + [result])
        nodes[Int(node)].edges[result] = edge
        return edge
    }

    private func makeEdge(root: Int, log: [UInt8]) -> Edge {
        var next = root
        recital.run(log) { next = self.advance(from: root) }
        let notes = notebook.number(of: recital.notes)
        if let step = recital.pending {
            return Edge(target: append(root, log, step), notes: notes)
        }
        return Edge(target: rootNode(next), notes: notes)
    }

    private func rootNode(_ root: Int) -> UInt32 {
        if let node = rootNodes[root] { return node }
        var node: UInt32
        if isEnd(root) {
            node = append(root, [], nil)
        } else {
            var next = root
            recital.run([]) { next = self.advance(from: root) }
            if let step = recital.pending {
                node = append(root, [], step)
            } else {
                precondition(recital.notes.isEmpty, "Nothing is said where nothing is done.")
                node = rootNode(next)
            }
        }
        rootNodes[root] = node
        return node
    }

    private func append(_ root: Int, _ log: [UInt8], _ step: Step?) -> UInt32 {
        let callNotes = step == nil ? 0 : notebook.number(of: recital.callNotes)
        nodes.append(Node(root: root, log: log, step: step, callNotes: callNotes))
        return UInt32(nodes.count - 1)
    }
}

/// The nodes of a program whose states are of some type.
final class ProgramNodes<State: Hashable>: ThreadNodes {
    private var states: [State]
    private var numbers: [State: Int] = [:]
    private let program: (inout State) -> Void
    private let end: (State) -> Bool

    init(
        recital: Recital,
        notebook: Notebook,
        start: State,
        isEnd: @escaping (State) -> Bool,
        program: @escaping (inout State) -> Void
    ) {
        states = [start]
        numbers = [start: 0]
        self.program = program
        end = isEnd
        super.init(recital: recital, notebook: notebook)
    }

    override func advance(from root: Int) -> Int {
        var state = states[root]
        program(&state)
        // A state that comes of zeros is nobody's.
        guard !recital.isOver else { return root }
        if let number = numbers[state] { return number }
        states.append(state)
        numbers[state] = states.count - 1
        return states.count - 1
    }

    override func isEnd(_ root: Int) -> Bool { end(states[root]) }
}

/// The lists of notes that were ever made, by number; 0 is the empty one.
final class Notebook {
    private(set) var lists: [[Note]] = [[]]
    private var numbers: [[Note]: Int] = [[]: 0]

    func number(of list: [Note]) -> Int {
        if let number = numbers[list] { return number }
        lists.append(list)
        numbers[list] = lists.count - 1
        return lists.count - 1
    }
}
