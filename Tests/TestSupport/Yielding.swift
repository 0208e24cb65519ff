/// Gives way to other tasks until a condition holds.
///
/// Throws if the task is cancelled, as it is at the time limit of a test: a test that waits in vain
/// fails and does not hang.
package func yield(until isTrue: () -> Bool) async throws {
    while !isTrue() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
