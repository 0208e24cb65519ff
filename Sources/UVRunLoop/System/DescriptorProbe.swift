internal import CUVSupport

/// Checks whether the kernel can watch a descriptor.
package enum DescriptorProbe {
    /// Adds the descriptor to an epoll set of its own, which no loop and no other thread notices.
    ///
    /// If no descriptor is left for the set, the kind of file tells: a server whose table is full
    /// goes on with the connections that it has. A refusal for another reason then comes later,
    /// from the loop.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor.
    ///   - isReadOnly: Whether it is to be watched for readable data only.
    /// - Returns: The stand-in to watch for a standard descriptor that refers to a file.
    /// - Throws: The kernel's error for a descriptor that it cannot watch.
    package static func check(
        _ descriptor: CInt,
        isReadOnly: Bool
    ) throws(UVError) -> FileStandIn? {
        let status = try statusOfAdding(descriptor)
        if status == UVError.notPermitted.rawValue, StandardDescriptors.all.contains(descriptor) {
            return try FileStandIn(for: descriptor, canEnd: isReadOnly)
        }
        // Of a file that was opened with O_PATH, the kernel says that the number is not open.
        if status == UVError.badDescriptor.rawValue, cuv_file_flags(descriptor) >= 0 {
            throw .notPermitted
        }
        try accepted(status)
        return nil
    }

    private static func statusOfAdding(_ descriptor: CInt) throws(UVError) -> CInt {
        do throws(UVError) {
            let epoll = try Descriptor.epollSet()
            // The number of one that is closed is often the next to be given out.
            guard epoll.number != descriptor else { throw .badDescriptor }
            return cuv_epoll_add(epoll.number, descriptor, 0)
        } catch {
            let isFull = error == .tooManyOpenFiles || error == .tooManyOpenFilesInSystem
            guard isFull else { throw error }
            return cuv_check_kind(descriptor)
        }
    }
}
