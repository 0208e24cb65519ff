/// The latest poll that counts: one counts that has found something, or was made while a port of its
/// mode was ready or polls of any mode had been skipped.
struct PollStamp {
    var number: Int64 = 0
    var serial: UInt64 = 0
}
