internal import CUVSupport
internal import UVLibc
import UVRunLoop

/// Owns an epoll instance: many descriptors that a loop can watch as one.
///
/// It is level-triggered. Its descriptor is readable while one of the set is ready. Remove a
/// descriptor before closing it.
struct EventSet: ~Copyable, Sendable {
    typealias Events = UVRunLoop.DescriptorEvents

    /// A ready descriptor.
    struct Ready: Equatable, Sendable {
        /// The tag that the descriptor was added with.
        var tag: UInt64
        /// `.hangUp` also means an error, and is reported without being requested.
        var events: Events
    }

    /// The most descriptors that one poll returns.
    static let maximumPerPoll = 64

    let descriptor: Descriptor

    init() throws(UVError) {
        descriptor = try .watchedEpollSet()
    }

    func add(_ number: CInt, _ events: Events, tag: UInt64) throws(UVError) {
        try control(cuv_epoll_operation_add, number, events, tag)
    }

    func modify(_ number: CInt, _ events: Events, tag: UInt64) throws(UVError) {
        try control(cuv_epoll_operation_modify, number, events, tag)
    }

    /// Removes a descriptor; does nothing if it is closed or was never added.
    func remove(_ number: CInt) {
        _ = cuv_epoll_delete(descriptor.number, number)
    }

    /// Returns the ready descriptors, without waiting.
    ///
    /// If more are ready than ``maximumPerPoll``, the others come first in the next poll.
    func poll() throws(UVError) -> [Ready] {
        unsafe try withUnsafeTemporaryAllocation(
            of: cuv_tagged_events.self,
            capacity: Self.maximumPerPoll
        ) { buffer -> Result<[Ready], UVError> in
            guard let events = buffer.baseAddress else { return .success([]) }
            let count = unsafe cuv_epoll_peek(
                descriptor.number,
                events,
                CInt(Self.maximumPerPoll)
            )
            if count == -EINTR { return .success([]) }
            guard count >= 0 else { return .failure(UVError(rawValue: count)) }
            return unsafe .success(
                buffer[..<Int(count)].map { Ready(tag: $0.tag, events: Self.events($0.events)) }
            )
        }.get()
    }

    private func control(
        _ operation: Int,
        _ number: CInt,
        _ events: Events,
        _ tag: UInt64
    ) throws(UVError) {
        let operation = CInt(operation)
        let mask = UInt32(events.kernelMask)
        try accepted(cuv_epoll_tag(descriptor.number, operation, number, mask, tag))
    }

    private static func events(_ mask: UInt32) -> Events {
        let mask = CInt(bitPattern: mask)
        let isBroken = mask & CInt(cuv_poll_error | cuv_poll_hang_up) != 0
        return Events(kernelMask: mask).union(isBroken ? .hangUp : [])
    }
}
