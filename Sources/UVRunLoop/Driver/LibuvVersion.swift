import CUV

/// What the library has to know of the libuv that the process runs with.
enum LibuvVersion {
    /// Whether it is 1.45 or later: `uv_async_send` does not spin, and each loop has an `io_uring`
    /// where the kernel permits it.
    static let isAtLeast1_45 = uv_version() >= 1 << 16 | 45 << 8
}
