import CUV
import Glibc

/// Finds out whether the kernel would watch a descriptor.
enum DescriptorProbe {
    /// Asks with an epoll set of its own, which no loop and no other thread can notice.
    static func check(_ descriptor: CInt) throws(UVError) {
        let epoll = try accepted(cuv_epoll_create())
        defer { close(epoll) }
        try accepted(cuv_epoll_add(epoll, descriptor, 0))
    }
}
