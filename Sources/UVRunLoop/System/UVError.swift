internal import CUVSupport
import CUV

/// A failure as libuv and the system report it.
///
/// > Threading: Any thread.
public struct UVError: Error, RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// libuv's status, which on Linux is the negated `errno`.
    public let rawValue: CInt

    /// Makes an error of a libuv status.
    ///
    /// - Parameter rawValue: The status, a negative number.
    public init(rawValue: CInt) {
        self.rawValue = rawValue
    }

    /// libuv's name for the failure and its explanation, such as `EMFILE: too many open files`.
    public var description: String {
        unsafe "\(Self.text(rawValue, unsafe uv_err_name_r)): \(Self.text(rawValue, unsafe uv_strerror_r))"
    }

    private typealias Describe = (CInt, UnsafeMutablePointer<CChar>?, Int) -> UnsafeMutablePointer<
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
    /// A number is not that of an open descriptor (`EBADF`).
    public static let badDescriptor = UVError(rawValue: UV_EBADF.rawValue)
    /// A value is not one that the system takes (`EINVAL`).
    public static let invalidArgument = UVError(rawValue: UV_EINVAL.rawValue)
    /// There is no process of this number (`ESRCH`).
    public static let noSuchProcess = UVError(rawValue: UV_ESRCH.rawValue)
    /// The process has no such child (`ECHILD`).
    public static let noChild = UVError(rawValue: -ECHILD)
    /// The system does not permit it (`EPERM`); for a descriptor: files of its kind cannot be
    /// watched.
    public static let notPermitted = UVError(rawValue: UV_EPERM.rawValue)
}
