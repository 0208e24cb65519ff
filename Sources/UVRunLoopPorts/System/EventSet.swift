internal import CUVSupport
internal import UVLibc
import UVRunLoop

/// Owns an epoll instance: many descriptors that a loop can watch as one.
///
/// It is level-triggered. Its descriptor is readable while one of the set is ready. Remove a
/// descriptor before closing it.
struct EventSet: ~Copyable, Sendable {
    typealias Events = UVRunLoop.DescriptorSource.Events

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
        descriptor = try .epollSet()
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
    /// If more are ready than the limit, the others come first in the next poll.
    func poll(atMost limit: Int = maximumPerPoll) throws(UVError) -> [Ready] {
        let limit = min(limit, Self.maximumPerPoll)
        return unsafe try withUnsafeTemporaryAllocation(
            of: cuv_tagged_events.self,
            capacity: Self.maximumPerPoll
        ) { buffer -> Result<[Ready], UVError> in
            guard let events = buffer.baseAddress else { return .success([]) }
            let count = unsafe cuv_epoll_peek(descriptor.number, events, CInt(limit))
            if count == -EINTR { return .success([]) }
            guard count >= 0 else { return .failure(UVError(rawValue: count)) }
            return unsafe .success(
                buffer[..<Int(count)].map { Ready(tag: $0.tag, events: Events($0.events)) }
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
        try accepted(cuv_epoll_tag(descriptor.number, operation, number, events.mask, tag))
    }
}

extension UVRunLoop.DescriptorSource.Events {
    fileprivate init(_ mask: UInt32) {
        self = []
        let mask = CInt(bitPattern: mask)
        if mask & CInt(cuv_poll_in) != 0 { insert(.readable) }
        if mask & CInt(cuv_poll_out) != 0 { insert(.writable) }
        if mask & CInt(cuv_poll_error | cuv_poll_hang_up) != 0 { insert(.hangUp) }
    }

    fileprivate var mask: UInt32 {
        var mask: CInt = 0
        if contains(.readable) { mask |= CInt(cuv_poll_in) }
        if contains(.writable) { mask |= CInt(cuv_poll_out) }
        return UInt32(mask)
    }
}
