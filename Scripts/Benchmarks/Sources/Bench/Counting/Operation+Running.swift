import ArgumentParser
import BenchSupport
import Results

extension Operation {
    /// The systems that can do it.
    var systems: [System] {
        System.allCases.filter { system in
            switch system {
            case .uvRunLoop: true
            case .libuv, .cfRunLoop: self != .job
            case .nio: NIOOperations.all.contains(self)
            case .dispatch: DispatchOperations.all.contains(self)
            case .pool: self == .job
            }
        }
    }

    /// Does it some times.
    func run(_ count: Int, by system: System) {
        if case .job = self { return TaskOperations.run(count, by: system) }
        switch system {
        // The main thread's loop also watches the descriptor of the main dispatch queue, which costs
        // a poll after each signal.
        case .uvRunLoop: onOwnThread { OurOperations.run(self, count) }
        case .libuv: LibuvOperations.run(self, count)
        case .cfRunLoop: CFOperations.run(self, count)
        case .nio: NIOOperations.run(self, count)
        case .dispatch: DispatchOperations.run(self, count)
        case .pool: break
        }
    }
}

extension System {
    /// The names on a command line.
    static var words: String { allCases.map(\.word).joined(separator: ", ") }

    /// The system that a command line names.
    init(word: String) throws {
        guard let system = System.allCases.first(where: { $0.word == word }) else {
            throw ValidationError("There is no system '\(word)'.")
        }
        self = system
    }

    /// The name on a command line.
    var word: String {
        switch self {
        case .uvRunLoop: "uvrunloop"
        case .libuv: "libuv"
        case .cfRunLoop: "cfrunloop"
        case .nio: "nio"
        case .dispatch: "dispatch"
        case .pool: "pool"
        }
    }
}
