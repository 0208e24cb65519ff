import Glibc

/// Ends the process when a body takes so long that only a hang explains it.
package func withHangGuard<Result>(
    seconds: Int = 120,
    _ body: () throws -> Result
) rethrows -> Result {
    let end = Signal()
    startThread { trap(after: seconds, unless: end) }.detach()
    defer { end.send() }
    return try body()
}

private func trap(after seconds: Int, unless end: Signal) {
    for _ in 0..<seconds * 50 {
        if end.hasCome { return }
        usleep(20_000)
    }
    precondition(end.hasCome, "A test hangs.")
}
