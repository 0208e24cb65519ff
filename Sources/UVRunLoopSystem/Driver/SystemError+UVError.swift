import CUV
import UVRunLoop

extension UVRunLoop.SystemError {
    /// Creates the error for a status of libuv.
    init(_ attempt: Attempt, _ error: UVError) {
        self.init(attempt, Self.code(of: attempt, error), error)
    }

    private static func code(of attempt: Attempt, _ error: UVError) -> Code {
        // Which limit is reached depends on what was attempted.
        if error.rawValue == UV_EAGAIN.rawValue, attempt != .spawn, attempt != .offload {
            return .noRoom
        }
        return codes[error.rawValue] ?? .refusedBySystem
    }

    private static let codes: [CInt: Code] = {
        let codes: [(uv_errno_t, Code)] = [
            (UV_ENOENT, .noSuchFile),
            (UV_ENOTDIR, .noSuchFile),
            (UV_EACCES, .notPermitted),
            (UV_EPERM, .notPermitted),
            (UV_EMFILE, .noDescriptorsLeft),
            (UV_ENFILE, .noDescriptorsLeft),
            (UV_EBADF, .descriptorClosed),
            (UV_EAGAIN, .noProcessesLeft),
            (UV_ENOMEM, .noRoom),
            (UV_ENOSPC, .noRoom),
            (UV_ENOBUFS, .noRoom),
            (UV_EAI_MEMORY, .noRoom),
            (UV_EINVAL, .invalidArgument),
            (UV_EAI_NONAME, .unknownHost),
            (UV_EAI_NODATA, .unknownHost),
            (UV_EAI_SERVICE, .unknownHost),
            (UV_EAI_AGAIN, .temporaryFailure),
            (UV_EADDRINUSE, .addressInUse),
            (UV_EADDRNOTAVAIL, .addressNotAvailable),
            (UV_ENETUNREACH, .unreachable),
            (UV_EHOSTUNREACH, .unreachable),
            (UV_ECONNREFUSED, .refused),
            (UV_EMSGSIZE, .messageTooLong),
            (UV_EPIPE, .brokenPipe),
            (UV_ECONNRESET, .brokenPipe),
            (UV_ESRCH, .processEnded),
        ]
        return Dictionary(uniqueKeysWithValues: codes.map { ($0.0.rawValue, $0.1) })
    }()
}

/// Performs a call of libuv, and throws its error as that of an attempt.
func attempt(
    _ attempt: UVRunLoop.SystemError.Attempt,
    _ call: () throws(UVError) -> Void
) throws(UVRunLoop.SystemError) {
    do {
        try call()
    } catch {
        throw UVRunLoop.SystemError(attempt, error)
    }
}
