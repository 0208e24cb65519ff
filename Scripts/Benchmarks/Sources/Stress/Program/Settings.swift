/// The options of a run of the program.
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
    /// The fault that is made on purpose, so that one sees it noticed.
    let fault: Fault?
}
