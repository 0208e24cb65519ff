import Results

/// Tasks that prefer a system, or the runtime's pool; as many as there are batches for.
enum TaskOperations {
    static func run(_ count: Int, by system: System) {
        let host: TaskHost? =
            switch system {
            case .uvRunLoop: TaskHost.ours().1
            case .nio: TaskHost.nio().1
            case .dispatch: TaskHost.dispatch().1
            case .libuv, .cfRunLoop, .pool: nil
            }
        _ = resumeTasks(count, from: 1, preferring: host?.preferred)
        host?.end()
    }
}
