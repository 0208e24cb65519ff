internal import CUVSupport
import Glibc

/// Finds out whether the kernel would watch a descriptor.
enum DescriptorProbe {
    /// Asks with an epoll set of its own, which no loop and no other thread can notice.
    ///
    /// - Returns: What is to be watched instead of a standard descriptor that leads to a file.
    static func check(
        _ descriptor: CInt,
        for events: UVRunLoop.DescriptorSource.Events
    ) throws(UVError) -> FileStandIn? {
        let epoll = try StandardDescriptors.avoided(by: accepted(cuv_epoll_create()))
        defer { close(epoll) }
        let status = cuv_epoll_add(epoll, descriptor, 0)
        if status == UVError.notPermitted.rawValue, StandardDescriptors.all.contains(descriptor) {
            return try FileStandIn(for: descriptor, events)
        }
        try accepted(status)
        return nil
    }
}
