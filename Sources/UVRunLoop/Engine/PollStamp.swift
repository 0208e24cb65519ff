/// The latest poll that counts: one counts that has found something, or was made while a port of any
/// mode was ready or expected to be.
struct PollStamp {
    var number: Int64 = 0
    var serial: UInt64 = 0
}
