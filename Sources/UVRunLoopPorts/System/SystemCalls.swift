internal import UVLibc
import UVRunLoop

/// Makes a system call, repeats it if a signal interrupts it, and throws any other error.
@inline(__always)
func completing<Result: SignedInteger>(_ call: () -> Result) throws(UVError) -> Result {
    while true {
        let result = call()
        if result >= 0 { return result }
        let code = errno
        if code != EINTR { throw UVError(rawValue: -code) }
    }
}

/// Does the same for a call that may block; `nil` means that it would.
@inline(__always)
func completingUnlessBlocked<Result: SignedInteger>(
    _ call: () -> Result
) throws(UVError) -> Result? {
    while true {
        let result = call()
        if result >= 0 { return result }
        switch errno {
        case EINTR: continue
        case EAGAIN: return nil
        case let code: throw UVError(rawValue: -code)
        }
    }
}

extension UVError {
    static let addressInUse = UVError(rawValue: -EADDRINUSE)
    static let addressNotAvailable = UVError(rawValue: -EADDRNOTAVAIL)
    static let brokenPipe = UVError(rawValue: -EPIPE)
    static let connectionRefused = UVError(rawValue: -ECONNREFUSED)
    static let wrongSocketType = UVError(rawValue: -EPROTOTYPE)
    static let connectionReset = UVError(rawValue: -ECONNRESET)
    static let hostUnreachable = UVError(rawValue: -EHOSTUNREACH)
    static let connectionAborted = UVError(rawValue: -ECONNABORTED)
    static let networkUnreachable = UVError(rawValue: -ENETUNREACH)
    static let noAccess = UVError(rawValue: -EACCES)
    static let noSuchFile = UVError(rawValue: -ENOENT)
    static let notADirectory = UVError(rawValue: -ENOTDIR)
    static let notConnected = UVError(rawValue: -ENOTCONN)
    static let timedOut = UVError(rawValue: -ETIMEDOUT)
    static let wouldBlock = UVError(rawValue: -EAGAIN)
}
