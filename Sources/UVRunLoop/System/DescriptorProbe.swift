internal import CUVSupport

/// Finds out whether the kernel would watch a descriptor.
enum DescriptorProbe {
    /// Asks with an epoll set of its own, which no loop and no other thread can notice.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor.
    ///   - isReadOnly: Whether it is to be watched for data to read and nothing else.
    /// - Throws: What the kernel says of a descriptor that it does not watch.
    /// - Returns: What is to be watched instead of a standard descriptor that leads to a file.
    static func check(
        _ descriptor: CInt,
        isReadOnly: Bool
    ) throws(UVError) -> FileStandIn? {
        let epoll = try StandardDescriptors.avoided(by: .epollSet())
        let status = cuv_epoll_add(epoll.number, descriptor, 0)
        if status == UVError.notPermitted.rawValue, StandardDescriptors.all.contains(descriptor) {
            return try FileStandIn(for: descriptor, canEnd: isReadOnly)
        }
        try accepted(status)
        return nil
    }
}
