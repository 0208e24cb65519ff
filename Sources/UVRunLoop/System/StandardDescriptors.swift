internal import CUVSupport

/// The descriptors that a process is started with: 0, 1 and 2.
///
/// Whoever starts the process chooses what they lead to, and goes on using it: a shell's terminal,
/// one end of a pipeline. Their open files are therefore left in the mode they are in.
enum StandardDescriptors {
    static let all: ClosedRange<CInt> = 0...2

    /// Moves a descriptor of the library's own off a number that a program may watch.
    static func avoided(by descriptor: consuming Descriptor) throws(UVError) -> Descriptor {
        guard all.contains(descriptor.number) else { return descriptor }
        let duplicate = cuv_duplicate(descriptor.number, all.upperBound + 1)
        return Descriptor(owning: try accepted(duplicate))
    }
}
