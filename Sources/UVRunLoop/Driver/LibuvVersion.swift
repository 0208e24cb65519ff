import CUV

/// The version of libuv that the process uses, as far as the library depends on it.
enum LibuvVersion {
    /// Whether it is 1.45 or later: `uv_async_send` does not spin, and each loop has an `io_uring`
    /// if the kernel permits it.
    static let isAtLeast1_45 = uv_version() >= 1 << 16 | 45 << 8
}
