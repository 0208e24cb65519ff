import UVRunLoop

/// The calling thread's loop, in which a handle is to be created.
struct LoopSite {
    let loop: UVRunLoop
    let host: HandleHost

    /// Finds the calling thread's loop, which is created if there is none.
    ///
    /// - Throws: ``UVRunLoop/SystemError`` if the loop has ended or cannot be created.
    init(_ attempt: UVRunLoop.SystemError.Attempt) throws(UVRunLoop.SystemError) {
        do {
            loop = try UVRunLoop.prepareCurrent()
        } catch {
            throw UVRunLoop.SystemError(attempt, .noDescriptorsLeft, error.underlying)
        }
        guard let host = loop.handleHost() else {
            throw UVRunLoop.SystemError(attempt, .loopEnded)
        }
        self.host = host
    }
}
