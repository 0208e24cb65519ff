internal import CUVSupport
import CUV

extension UVRunLoop {
    /// An error of libuv or of the system.
    ///
    /// > Threading: Any thread.
    public struct UVError: Error, RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The status of libuv, which on Linux is the negated `errno`.
        public let rawValue: CInt

        /// Creates an error from a libuv status.
        ///
        /// - Parameter rawValue: The status, a negative number.
        public init(rawValue: CInt) {
            self.rawValue = rawValue
        }

        /// The name and the explanation of libuv, such as `EMFILE: too many open files`; for an
        /// error that libuv does not know, the number and the explanation of the system.
        public var description: String {
            // libuv has no text for some.
            if self == .noChild { return "ECHILD: no child processes" }
            let name = unsafe Self.text(rawValue, unsafe uv_err_name_r)
            let explanation = unsafe Self.text(rawValue, unsafe uv_strerror_r)
            guard name == explanation else { return "\(name): \(explanation)" }
            let text = unsafe String(cString: cuv_error_text(0 &- rawValue))
            return "error \(-Int(rawValue)): \(text)"
        }

        private typealias Describe = (CInt, UnsafeMutablePointer<CChar>?, Int) ->
            UnsafeMutablePointer<
                CChar
            >?

        private static func text(_ status: CInt, _ describe: Describe) -> String {
            unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
                guard let text = unsafe describe(status, buffer.baseAddress, buffer.count) else {
                    return ""
                }
                return unsafe String(cString: text)
            }
        }

        /// The process has no descriptor left (`EMFILE`).
        public static let tooManyOpenFiles = UVError(rawValue: UV_EMFILE.rawValue)
        /// The system has no descriptor left (`ENFILE`).
        public static let tooManyOpenFilesInSystem = UVError(rawValue: UV_ENFILE.rawValue)
        /// A number is not the number of an open descriptor (`EBADF`).
        public static let badDescriptor = UVError(rawValue: UV_EBADF.rawValue)
        /// The system does not accept a value (`EINVAL`).
        public static let invalidArgument = UVError(rawValue: UV_EINVAL.rawValue)
        /// There is no process with this ID (`ESRCH`).
        public static let noSuchProcess = UVError(rawValue: UV_ESRCH.rawValue)
        /// The process has no such child (`ECHILD`).
        public static let noChild = UVError(rawValue: -ECHILD)
        /// Another process or thread has what is wanted (`EAGAIN`, `EWOULDBLOCK`).
        static let tryAgain = UVError(rawValue: UV_EAGAIN.rawValue)
        /// The system does not permit it (`EPERM`); for a descriptor, files of its kind cannot be
        /// watched.
        public static let notPermitted = UVError(rawValue: UV_EPERM.rawValue)
    }
}

/// The same as ``UVRunLoop/UVError``.
public typealias UVError = UVRunLoop.UVError

/// Throws the error that a negative libuv status stands for.
@discardableResult
package func accepted(_ status: CInt) throws(UVError) -> CInt {
    guard status >= 0 else { throw UVError(rawValue: status) }
    return status
}
