internal import UVLibc
import UVRunLoop

/// An eventfd that ends a poll(2) of another thread.
struct WakeEvent: ~Copyable, Sendable {
    private let descriptor: Descriptor

    init() throws(UVError) { descriptor = try .event() }

    var number: CInt { descriptor.number }

    /// Makes an eventfd readable; the caller sees to it that it is open.
    static func signal(_ number: CInt) {
        var one: UInt64 = 1
        _ = unsafe write(number, &one, MemoryLayout<UInt64>.size)
    }

    /// Makes it unreadable; it does not block.
    static func clear(_ number: CInt) {
        var count: UInt64 = 0
        _ = unsafe read(number, &count, MemoryLayout<UInt64>.size)
    }
}
