import UVRunLoop

extension UVRunLoop {
    /// What may go wrong with message ports.
    ///
    /// More cases may be added.
    ///
    /// > Threading: Any thread.
    public enum MessagePortError: Error, Hashable, Sendable {
        /// Nobody serves the name.
        case noSuchPort
        /// Another process holds the name.
        case nameTaken
        /// The name is empty or holds a zero byte.
        case invalidName
        /// The name, as a file's, does not fit into a Unix-domain address; it is never cut.
        case nameTooLong
        /// The directory for names, or the one that it is in, is not the user's alone.
        case directoryNotTrusted(String)
        /// Something that is no port of the user's is where the name's files belong.
        case fileNotTrusted(String)
        /// The message was not handed over in time.
        case sendTimedOut
        /// The message was handed over but no reply came in time; a later one is dropped.
        case receiveTimedOut
        /// The port was invalid before anything was sent.
        case isInvalid
        /// The port became invalid meanwhile: the other side is gone, or somebody invalidated it.
        case becameInvalid
        /// The message, or the reply to it, is larger than one of the sides takes.
        case messageTooLarge
        /// One side does not deal with the other's user.
        case peerNotPermitted
        /// The other side serves as many connections as it will.
        case tooManyConnections
        /// The other side keeps as much for all its peers as it will, most of it for this one.
        case noRoomLeft
        /// The thread was told to stop at once, with ``UVRunLoop/Thread/stop(afterQueuedWork:)``,
        /// before the reply was there.
        case threadStopped
        /// The process or the system has no file descriptor left.
        case noDescriptorsLeft
        /// The other side broke the rules of the wire format.
        case malformedFrame
        /// The system refused.
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

/// Makes a call of the system's, and says what it refused in the words of message ports.
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
