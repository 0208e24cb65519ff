import Results

extension Operation {
    /// The systems that can do it.
    var systems: [System] {
        System.allCases.filter { system in
            switch system {
            case .uvRunLoop, .libuv, .cfRunLoop: true
            case .nio: NIOOperations.all.contains(self)
            case .dispatch: DispatchOperations.all.contains(self)
            }
        }
    }

    /// Does it some times.
    func run(_ count: Int, by system: System) {
        switch system {
        case .uvRunLoop: OurOperations.run(self, count)
        case .libuv: LibuvOperations.run(self, count)
        case .cfRunLoop: CFOperations.run(self, count)
        case .nio: NIOOperations.run(self, count)
        case .dispatch: DispatchOperations.run(self, count)
        }
    }
}

extension System {
    /// The name on a command line.
    var word: String {
        switch self {
        case .uvRunLoop: "uvrunloop"
        case .libuv: "libuv"
        case .cfRunLoop: "cfrunloop"
        case .nio: "nio"
        case .dispatch: "dispatch"
        }
    }
}
