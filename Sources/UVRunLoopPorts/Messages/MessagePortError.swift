import UVRunLoop

extension UVRunLoop {
    /// An error of a message port.
    ///
    /// More cases may be added.
    ///
    /// > Threading: Any thread.
    public enum MessagePortError: Error, Hashable, Sendable {
        /// No process serves the name.
        case noSuchPort
        /// Another process owns the name.
        case nameTaken
        /// The name is empty or contains a zero byte.
        case invalidName
        /// The name, encoded as a file name, is too long for a Unix-domain address. It is never
        /// truncated.
        case nameTooLong
        /// The directory for names, or its parent, is not safe from other users.
        case directoryNotTrusted(String)
        /// The path of the name's files is taken by a file that is not one of the user's ports.
        case fileNotTrusted(String)
        /// The message was not sent within the limit.
        case sendTimedOut
        /// The message was sent, but no reply arrived within the limit; a later one is dropped.
        case receiveTimedOut
        /// The port was invalid before anything was sent.
        case isInvalid
        /// The port became invalid meanwhile: the other side is gone, or the port was invalidated.
        case becameInvalid
        /// The message, or its reply, exceeds a size limit of one side.
        case messageTooLarge
        /// One side does not accept the other's user.
        case peerNotPermitted
        /// The other side has reached its connection limit.
        case tooManyConnections
        /// The other side has reached its memory limit, most of it used for this peer.
        case noRoomLeft
        /// The thread was told to stop at once, with ``UVRunLoop/Thread/stop(afterQueuedWork:)``,
        /// before the reply arrived.
        case threadStopped
        /// The process or the system has no file descriptors left.
        case noDescriptorsLeft
        /// The other side violated the wire format.
        case malformedFrame
        /// Another error of the system.
        case transport(UVError)

        init(_ error: UVError) {
            switch error {
            case .tooManyOpenFiles, .tooManyOpenFilesInSystem: self = .noDescriptorsLeft
            default: self = .transport(error)
            }
        }

        init(_ reason: RefusalReason?) {
            self =
                switch reason {
                case .messageTooLarge: .messageTooLarge
                case .peerNotPermitted: .peerNotPermitted
                case .tooManyConnections: .tooManyConnections
                case .noRoomLeft: .noRoomLeft
                case .malformedFrame, nil: .malformedFrame
                }
        }
    }
}

typealias MessagePortError = UVRunLoop.MessagePortError

/// Makes a system call, and throws its error as a message port's.
@inline(__always)
func translating<Result: ~Copyable>(
    _ call: () throws(UVError) -> Result
) throws(MessagePortError) -> Result {
    do {
        return try call()
    } catch {
        throw MessagePortError(error)
    }
}
