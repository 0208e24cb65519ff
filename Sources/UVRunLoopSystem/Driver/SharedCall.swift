import CUV
import CUVSupport
import UVRunLoop

/// Calls of libuv's that use what the loops of the process share: its thread pool, and the pipe that
/// guards its signals.
///
/// At the end of `exit`, libuv takes these away, and would abort the process if another thread used
/// them.
enum SharedCall {
    /// Makes a call; returns its status, `ECANCELED` if the process is ending.
    static func make(_ call: () -> CInt) -> CInt {
        guard cuv_begin_shared_call() != 0 else { return UV_ECANCELED.rawValue }
        defer { cuv_end_shared_call() }
        return call()
    }

    /// Makes several calls that belong together.
    ///
    /// - Throws: `ECANCELED` if the process is ending.
    static func make<Result>(_ calls: () throws(UVError) -> Result) throws(UVError) -> Result {
        guard cuv_begin_shared_call() != 0 else { throw UVError(rawValue: UV_ECANCELED.rawValue) }
        defer { cuv_end_shared_call() }
        return try calls()
    }
}
