/// What a run of the program was asked for.
struct Settings: Sendable {
    /// Where all choices come from.
    let seed: UInt64
    /// How many threads have loops that are put under load.
    let threads: Int
    /// How many threads without loops act on those of others.
    let outsiders: Int
    /// For how long, in nanoseconds.
    let time: Int64
    let kinds: [Kind]
    /// For how long nothing at all may happen, in nanoseconds.
    let patience: Int64
    /// What is to go wrong on purpose, so that one sees it noticed.
    let fault: Fault?
}
