import Glibc

/// The descriptors that a process is started with: 0, 1 and 2.
///
/// Whoever starts the process chooses what they lead to, and goes on using it: a shell's terminal,
/// one end of a pipeline. Their open files are therefore left in the mode they are in.
enum StandardDescriptors {
    static let all: ClosedRange<CInt> = 0...2

    /// Moves a descriptor of the library's own off a number that a program may watch.
    static func avoided(by descriptor: CInt) throws(UVError) -> CInt {
        guard all.contains(descriptor) else { return descriptor }
        defer { close(descriptor) }
        let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, all.upperBound + 1)
        guard moved >= 0 else { throw UVError(rawValue: -errno) }
        return moved
    }
}
