/// The events of a descriptor that the kernel is to report.
package struct WatchChange: Sendable {
    package var descriptor: CInt
    /// Distinguishes this use of the number from earlier ones.
    package var registration: UInt64
    /// `nil` to remove the descriptor from the epoll set, errors and hang-ups included.
    package var events: UVRunLoop.DescriptorEvents? = nil
}
