internal import CUVSupport

/// The descriptors that a process starts with: 0, 1 and 2.
///
/// They are shared with the program that started the process, such as a shell and its terminal or
/// the other end of a pipeline. So the flags of their open files are left as they are.
package enum StandardDescriptors {
    static let all: ClosedRange<CInt> = 0...2

    /// Opens those that are closed in this process, so that libuv does not get their numbers.
    ///
    /// - Returns: The descriptors, for the caller to close once libuv has opened its own.
    static func occupyClosed() -> OwnedArray<Descriptor> {
        var opened = OwnedArray<Descriptor>()
        guard cuv_standard_descriptors_are_open() == 0 else { return opened }
        while case let number = cuv_epoll_create(), number >= 0 {
            let next = Descriptor(owning: number)
            guard all.contains(number) else { break }
            opened.append(next)
        }
        return opened
    }

    /// Moves a descriptor of the library off a number that other code may use.
    package static func avoided(by descriptor: consuming Descriptor) throws(UVError) -> Descriptor {
        guard all.contains(descriptor.number) else { return descriptor }
        let duplicate = cuv_duplicate(descriptor.number, all.upperBound + 1)
        return Descriptor(owning: try accepted(duplicate))
    }
}
