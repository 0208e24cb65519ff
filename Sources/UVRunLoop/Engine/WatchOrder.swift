/// What is to be asked of the kernel about a descriptor.
package struct WatchOrder: Sendable {
    package var descriptor: CInt
    /// Tells this use of the number from earlier ones.
    package var registration: UInt64
    /// `nil`: nothing at all, errors and hang-ups included.
    package var events: UVRunLoop.DescriptorEvents?
}
