/// What the environment may refuse a run loop.
///
/// > Threading: Any thread.
public struct RunLoopError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Tells kinds of trouble apart.
    ///
    /// More kinds may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let text: String

        /// The process or the system has no file descriptor left (`EMFILE`, `ENFILE`; see `ulimit
        /// -n`).
        public static let noDescriptorsLeft = Code(text: "no file descriptors are left")
        /// The number is not, or no longer, that of an open descriptor (`EBADF`).
        public static let descriptorClosed = Code(text: "the descriptor is not open")
        /// The descriptor is of a kind whose readiness the system does not report: a regular file
        /// or a directory, which are always ready (`EPERM`).
        public static let descriptorNotWatchable = Code(
            text: "the descriptor is of a kind that cannot be watched, such as a regular file"
        )
        /// The system refused for another reason, which ``RunLoopError/underlying`` names.
        public static let refusedBySystem = Code(text: "the system refused")

        /// What the code means, in a few words.
        public var description: String { text }
    }

    /// What kind of trouble it was.
    public let code: Code
    /// What libuv or the system answered; `nil` when no call of theirs was involved.
    public let underlying: UVError?

    init(_ error: UVError) {
        underlying = error
        switch error {
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem: code = .noDescriptorsLeft
        case .badDescriptor: code = .descriptorClosed
        case .notPermitted: code = .descriptorNotWatchable
        default: code = .refusedBySystem
        }
    }

    /// The trouble in one line.
    public var description: String {
        underlying.map { "\(code) (\($0))" } ?? code.description
    }
}
