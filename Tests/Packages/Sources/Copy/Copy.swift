import UVRunLoop

/// Serves a timer on the main loop of this library's copy of the run loops.
///
/// - Returns: How often the timer has fired, which is once.
@_cdecl("serveATimer")
public func serveATimer() -> CInt {
    var count: CInt = 0
    let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in count += 1 }
    UVRunLoop.main.add(timer, forMode: .default)
    UVRunLoop.current.run(mode: .default, for: .seconds(60))
    return count
}
