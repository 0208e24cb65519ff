import CUV
import Glibc
import Synchronization
import UVRunLoop
import UVRunLoopPorts

/// A `uv_udp_t`, which receives several datagrams with one system call.
@safe
final class DatagramSocket: LoopHandle, @unchecked Sendable {
    typealias Event = UVRunLoop.DatagramPort.Event
    typealias SystemError = UVRunLoop.SystemError

    /// libuv receives one datagram in each 64 KiB of a buffer.
    private static let datagramSize = 65_536
    private static let bufferSize = 16 * datagramSize

    private let raw: UnsafeMutablePointer<uv_udp_t>
    private let buffer: UnsafeMutableRawPointer
    private let inbox: EventInbox<Event>
    private let isConnected: Bool
    private var isReceiving = false
    private let hasFailed = Atomic<Bool>(false)
    /// The bytes that wait to be sent, or are on their way to the loop's thread.
    private let queuedBytes = Guarded(0)

    /// Opens a socket, binds it and starts to receive.
    ///
    /// - Parameters:
    ///   - local: The address to bind to.
    ///   - peer: The address to connect to.
    ///   - options: The options of the socket.
    ///   - inbox: Gets the events.
    /// - Throws: ``UVRunLoop/SystemError``; no socket is open then.
    init(
        _ local: UVRunLoop.SocketAddress,
        _ peer: UVRunLoop.SocketAddress?,
        _ options: UVRunLoop.DatagramPort.Options,
        _ inbox: EventInbox<Event>
    ) throws(SystemError) {
        let localAddress = try Self.rawAddress(local, .bind)
        let peerAddress = try Self.rawAddress(peer, .bind)
        let site = try LoopSite(.bind)
        unsafe raw = .allocate(capacity: 1)
        unsafe buffer = .allocate(byteCount: Self.bufferSize, alignment: 16)
        self.inbox = inbox
        isConnected = peer != nil
        super.init(site)
        let flags = CUnsignedInt(localAddress.family) | UV_UDP_RECVMMSG.rawValue
        let status = unsafe uv_udp_init_ex(host.uvLoop, raw, flags)
        guard status >= 0 else {
            unsafe raw.deallocate()
            throw SystemError(.bind, UVError(rawValue: status))
        }
        unsafe raw.pointee.data = unsafe data
        host.insert(self)
        do {
            try open(localAddress, peerAddress, options)
        } catch {
            close()
            throw SystemError(.bind, error)
        }
    }

    deinit { unsafe buffer.deallocate() }

    private static func rawAddress(
        _ address: UVRunLoop.SocketAddress,
        _ attempt: SystemError.Attempt
    ) throws(SystemError) -> RawAddress {
        guard address.port != nil, let raw = try? address.raw else {
            throw SystemError(attempt, .invalidArgument)
        }
        return raw
    }

    private static func rawAddress(
        _ address: UVRunLoop.SocketAddress?,
        _ attempt: SystemError.Attempt
    ) throws(SystemError) -> RawAddress? {
        guard let address else { return nil }
        return try rawAddress(address, attempt) as RawAddress
    }

    private func open(
        _ local: RawAddress,
        _ peer: RawAddress?,
        _ options: UVRunLoop.DatagramPort.Options
    ) throws(UVError) {
        var flags: UInt32 = 0
        if options.contains(.reusesAddress) { flags |= UV_UDP_REUSEADDR.rawValue }
        if options.contains(.isIPv6Only) { flags |= UV_UDP_IPV6ONLY.rawValue }
        try accepted(unsafe local.lend { address, _ in unsafe uv_udp_bind(raw, address, flags) })
        if options.contains(.allowsBroadcast) {
            try accepted(unsafe uv_udp_set_broadcast(raw, 1))
        }
        if let peer {
            try accepted(unsafe peer.lend { address, _ in unsafe uv_udp_connect(raw, address) })
        }
        try receive()
    }

    /// The address that the socket is bound to.
    var localAddress: UVRunLoop.SocketAddress? {
        var bytes = [UInt8](repeating: 0, count: MemoryLayout<sockaddr_storage>.size)
        var length = CInt(bytes.count)
        let status = unsafe bytes.withUnsafeMutableBytes { bytes -> CInt in
            let address = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return unsafe uv_udp_getsockname(raw, address, &length)
        }
        guard status >= 0 else { return nil }
        return UVRunLoop.SocketAddress(RawAddress(bytes: Array(bytes.prefix(Int(length)))))
    }

    // MARK: Receiving

    private func receive() throws(UVError) {
        guard !isReceiving else { return }
        let status = unsafe uv_udp_recv_start(
            raw,
            { handle, _, buffer in
                guard let data = unsafe handle?.pointee.data, let buffer = unsafe buffer else {
                    return
                }
                let socket = unsafe Unmanaged<DatagramSocket>.fromOpaque(data).takeUnretainedValue()
                unsafe buffer.pointee = unsafe socket.libuvBuffer
            },
            { handle, length, buffer, sender, flags in
                guard let data = unsafe handle?.pointee.data else { return }
                let socket = unsafe Unmanaged<DatagramSocket>.fromOpaque(data).takeUnretainedValue()
                unsafe socket.didReceive(length, buffer, sender, flags)
            }
        )
        try accepted(status)
        isReceiving = true
        try host.register()
    }

    private var libuvBuffer: uv_buf_t {
        let start = unsafe buffer.assumingMemoryBound(to: CChar.self)
        return unsafe uv_buf_init(start, CUnsignedInt(Self.bufferSize))
    }

    private func didReceive(
        _ length: Int,
        _ buffer: UnsafePointer<uv_buf_t>?,
        _ sender: UnsafePointer<sockaddr>?,
        _ flags: CUnsignedInt
    ) {
        guard !isClosed else { return }
        if length < 0 {
            let error = SystemError(.receive, UVError(rawValue: CInt(length)))
            inbox.append(.failed(error))
            return note()
        }
        // Without a sender there was nothing to read, or the buffer is no longer used.
        guard let sender = unsafe sender, let start = unsafe buffer?.pointee.base,
            let address = unsafe Self.address(sender)
        else { return }
        let bytes = unsafe Array(UnsafeRawBufferPointer(start: start, count: length))
        let isPartial = flags & UV_UDP_PARTIAL.rawValue != 0
        let datagram = UVRunLoop.DatagramPort.Datagram(
            bytes: bytes,
            sender: address,
            isTruncated: isPartial
        )
        inbox.change { $0.append(datagram) }
        note()
    }

    private static func address(_ raw: UnsafePointer<sockaddr>) -> UVRunLoop.SocketAddress? {
        let isIPv4 = unsafe raw.pointee.sa_family == sa_family_t(AF_INET)
        let size = isIPv4 ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        let bytes = unsafe Array(UnsafeRawBufferPointer(start: raw, count: size))
        return UVRunLoop.SocketAddress(RawAddress(bytes: bytes))
    }

    /// Stops to receive while enough waits.
    ///
    /// Not in libuv's callback, because libuv would drop what it has received and not delivered yet.
    override func eventsWereNoted() {
        guard isReceiving, !isClosed, inbox.count >= UVRunLoop.DatagramPort.capacity else { return }
        isReceiving = false
        unsafe uv_udp_recv_stop(raw)
    }

    override func eventWasTaken() {
        guard !isReceiving, inbox.count < UVRunLoop.DatagramPort.capacity else { return }
        do {
            try receive()
        } catch {
            fail(.receive, error)
        }
    }

    /// Closes the socket, which the kernel refuses to watch; its requests fail.
    ///
    /// The port becomes invalid when this last event was taken.
    func fail(_ attempt: SystemError.Attempt, _ error: UVError) {
        inbox.append(.failed(SystemError(attempt, error)))
        hasFailed.store(true, ordering: .releasing)
        close()
        announce()
    }

    /// Whether an event that was just taken was the last.
    var hasToldAll: Bool { hasFailed.load(ordering: .acquiring) && inbox.count == 0 }

    // MARK: Sending

    var queuedByteCount: Int { queuedBytes.withLock { $0 } }

    /// Sends a datagram, on any thread.
    func send(
        _ bytes: [UInt8],
        to address: UVRunLoop.SocketAddress?,
        limit: Int
    ) throws(SystemError) {
        guard (address == nil) == isConnected else { throw SystemError(.send, .invalidArgument) }
        let target = try Self.rawAddress(address, .send)
        let hasRoom = queuedBytes.withLock { queued in
            guard queued <= limit else { return false }
            queued += bytes.count
            return true
        }
        guard hasRoom else { throw SystemError(.send, .queueOverflow) }
        onThread { handle in (handle as? DatagramSocket)?.send(bytes, to: target, address) }
    }

    private func send(
        _ bytes: [UInt8],
        to target: RawAddress?,
        _ address: UVRunLoop.SocketAddress?
    ) {
        guard !isClosed else {
            _ = didSend(bytes.count)
            return
        }
        let request = SendRequest(bytes) { [weak self] status in
            if let self, didSend(bytes.count, status, address) { note() }
        }
        let status = unsafe request.start(raw, target)
        if status < 0 {
            if didSend(bytes.count, status, address) { announce() }
        } else {
            do {
                try host.register()
            } catch {
                fail(.send, error)
            }
        }
    }

    /// Ends a request; returns whether that is an event.
    private func didSend(
        _ count: Int,
        _ status: CInt = 0,
        _ address: UVRunLoop.SocketAddress? = nil
    ) -> Bool {
        queuedBytes.withLock { $0 -= count }
        guard status < 0, !isClosed else { return false }
        inbox.change { events in
            guard events.count < UVRunLoop.DatagramPort.capacity else { return }
            let error = SystemError(.send, UVError(rawValue: status))
            events.append(.sendFailed(error, to: address))
        }
        return true
    }

    // MARK: Multicast

    /// Joins or leaves a multicast group, on the loop's thread.
    func setMembership(
        _ group: String,
        _ interface: String?,
        isMember: Bool
    ) throws(SystemError) {
        guard !isClosed else { throw SystemError(.configure, .invalidated) }
        let membership = isMember ? UV_JOIN_GROUP : UV_LEAVE_GROUP
        let status = unsafe uv_udp_set_membership(raw, group, interface, membership)
        try attempt(.configure) { () throws(UVError) in try accepted(status) }
    }

    override func end() { unsafe close(raw) }
}

extension [UVRunLoop.DatagramPort.Event] {
    /// Adds a datagram to the last batch, or to a new one.
    fileprivate mutating func append(_ datagram: UVRunLoop.DatagramPort.Datagram) {
        if case .received(var batch)? = last, batch.count < UVRunLoop.DatagramPort.batchSize {
            removeLast()
            batch.append(datagram)
            append(.received(batch))
        } else {
            append(.received([datagram]))
        }
    }
}
