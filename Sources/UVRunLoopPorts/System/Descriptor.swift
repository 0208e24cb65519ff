import Glibc
import UVRunLoop

/// Owns one file descriptor and closes it exactly once.
///
/// A loop or an ``EventSet`` that watches the number has to let go of it first.
struct Descriptor: ~Copyable, Sendable {
    let number: CInt

    /// Takes over a descriptor that nobody else closes.
    init(owning number: CInt) {
        self.number = number
    }

    deinit {
        // Linux frees the number whatever `close` answers, so it is never repeated.
        Glibc.close(number)
    }

    /// Closes it here and now.
    consuming func close() {}

    /// Another number for the same open file, closed on `exec` as well.
    borrowing func duplicate() throws(UVError) -> Descriptor {
        let number = number
        return Descriptor(owning: try completing { fcntl(number, F_DUPFD_CLOEXEC, 0) })
    }
}

/// Two descriptors that are connected with each other.
struct DescriptorPair: ~Copyable, Sendable {
    let first: Descriptor
    let second: Descriptor

    /// Gives both away.
    consuming func take(_ body: (consuming Descriptor, consuming Descriptor) -> Void) {
        body(first, second)
    }
}

/// A descriptor that is held in reserve for the moment in which there are no others.
///
/// A listener that cannot accept for want of descriptors gives it up for a moment, so that the
/// client is turned away instead of being left to wait.
struct SpareDescriptor: ~Copyable, Sendable {
    private var spare: Descriptor?

    init() throws(UVError) {
        spare = try Self.make()
    }

    /// Turns the first client in a listener's line away.
    ///
    /// - Returns: Whether there was one.
    mutating func turnAway(from listener: borrowing Descriptor) throws(UVError) -> Bool {
        spare = nil
        let didAccept: Bool
        do {
            didAccept = try listener.accept() != nil
        } catch {
            spare = try? Self.make()
            throw error
        }
        // Somebody else may have been quicker; the next call tries again.
        spare = try? Self.make()
        return didAccept
    }

    private static func make() throws(UVError) -> Descriptor {
        Descriptor(owning: try completing { Glibc.socket(AF_UNIX, Stream.kind, 0) })
    }
}
