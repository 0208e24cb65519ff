internal import CUVSupport
import Glibc
import UVRunLoop

/// Owns an epoll instance: many descriptors that a loop can watch as one.
///
/// Level-triggered. Its descriptor is readable while one of its own is ready. Remove a descriptor
/// before you close it.
struct EventSet: ~Copyable, Sendable {
    typealias Events = UVRunLoop.DescriptorSource.Events

    /// What one descriptor has.
    struct Ready: Equatable, Sendable {
        /// What the descriptor was added with.
        var tag: UInt64
        /// `.hangUp` stands for an error too, and comes asked for or not.
        var events: Events
    }

    /// The most that one look answers.
    static let mostPerLook = 64

    let descriptor: Descriptor

    init() throws(UVError) {
        descriptor = Descriptor(owning: try accepted(cuv_epoll_create()))
    }

    func add(_ number: CInt, _ events: Events, tag: UInt64) throws(UVError) {
        try control(cuv_epoll_operation_add, number, events, tag)
    }

    func modify(_ number: CInt, _ events: Events, tag: UInt64) throws(UVError) {
        try control(cuv_epoll_operation_modify, number, events, tag)
    }

    /// Forgets a descriptor; one that is closed or was never added is forgotten already.
    func remove(_ number: CInt) {
        _ = cuv_epoll_delete(descriptor.number, number)
    }

    /// Looks, without waiting, which descriptors are ready; those that are left out because there
    /// are more than asked for come first in the next look.
    func look(atMost limit: Int = mostPerLook) throws(UVError) -> [Ready] {
        let limit = min(limit, Self.mostPerLook)
        return unsafe try withUnsafeTemporaryAllocation(
            of: cuv_tagged_events.self,
            capacity: Self.mostPerLook
        ) { buffer -> Result<[Ready], UVError> in
            guard let found = buffer.baseAddress else { return .success([]) }
            let count = unsafe cuv_epoll_look(descriptor.number, found, CInt(limit))
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
