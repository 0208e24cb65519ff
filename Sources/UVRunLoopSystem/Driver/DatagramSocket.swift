import CUV
internal import UVLibc
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
    /// The bytes that wait to be sent, or are on their way to the loop's thread.
    private let queued = Guarded(Queued())
    /// Datagrams that wait to be sent; the first may have been passed to libuv.
    private var outgoing = FirstInFirstOut<OutgoingDatagram>()
    /// Whether libuv waits until the kernel has room for the first.
    private var isSending = false
    /// Whether sending has added events that are not announced yet.
    private var hasNews = false

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
        let status = host.open {
            let status = unsafe uv_udp_init_ex(host.uvLoop, raw, flags)
            // Before version 1.45, libuv tries several datagrams at once with a socket that it
            // closes again; it would do so with the first datagram of the process otherwise.
            if status >= 0 { _ = unsafe uv_udp_using_recvmmsg(raw) }
            return status
        }
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
        if options.contains(.isIPv6Only), local.family == AF_INET6 {
            flags |= UV_UDP_IPV6ONLY.rawValue
        }
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
        try host.start { unsafe uv_udp_recv_start(raw, Self.provideBuffer, Self.didReceive) }
        isReceiving = true
        try host.register()
    }

    private static let provideBuffer: uv_alloc_cb = { handle, _, buffer in
        guard let data = unsafe handle?.pointee.data, let buffer = unsafe buffer else { return }
        let socket = unsafe Unmanaged<DatagramSocket>.fromOpaque(data).takeUnretainedValue()
        unsafe buffer.pointee = unsafe socket.libuvBuffer
    }

    private static let didReceive: uv_udp_recv_cb = { handle, length, buffer, sender, flags in
        guard let data = unsafe handle?.pointee.data else { return }
        let socket = unsafe Unmanaged<DatagramSocket>.fromOpaque(data).takeUnretainedValue()
        unsafe socket.didReceive(length, buffer, sender, flags)
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
    /// Not in libuv's callback, because libuv would drop what it has received and not delivered
    /// yet.
    override func eventsWereNoted() {
        guard isReceiving, !isClosed, inbox.count >= UVRunLoop.DatagramPort.capacity else { return }
        isReceiving = false
        unsafe uv_udp_recv_stop(raw)
    }

    override func eventWasTaken() {
        if !outgoing.isEmpty { flush() }
        if takeNews() { announce() }
        guard !isReceiving, !isClosed, inbox.count < UVRunLoop.DatagramPort.capacity else { return }
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
        inbox.change(isLast: true) { $0.append(.failed(SystemError(attempt, error))) }
        close()
        announce()
    }

    // MARK: Sending

    private struct Queued {
        var byteCount = 0
        var count = 0
    }

    /// The most datagrams that wait: many small ones take more memory than their bytes.
    private static let maximumQueuedCount = 65_536

    var queuedByteCount: Int { queued.withLock(\.byteCount) }

    /// Sends a datagram, on any thread.
    func send(
        _ bytes: [UInt8],
        to address: UVRunLoop.SocketAddress?,
        limit: Int
    ) throws(SystemError) {
        guard (address == nil) == isConnected else { throw SystemError(.send, .invalidArgument) }
        let target = try Self.rawAddress(address, .send)
        let hasRoom = queued.withLock { queued in
            guard queued.byteCount <= limit, queued.count < Self.maximumQueuedCount else {
                return false
            }
            queued.byteCount += bytes.count
            queued.count += 1
            return true
        }
        guard hasRoom else { throw SystemError(.send, .queueOverflow) }
        let datagram = OutgoingDatagram(bytes: bytes, target: target, address: address)
        onThread { handle in (handle as? DatagramSocket)?.enqueue(datagram) }
    }

    private func enqueue(_ datagram: OutgoingDatagram) {
        guard !isClosed else { return didLeave(datagram) }
        outgoing.append(datagram)
        flush()
        if takeNews() { announce() }
    }

    /// Sends what the kernel has room for.
    ///
    /// One by one, because libuv drops all datagrams that it passes to the kernel together when the
    /// first of them is refused. While too many failures wait to be delivered, the rest waits, too.
    private func flush() {
        while !isSending, let datagram = outgoing.first, mayFail {
            let status = trySending(datagram)
            if status == UV_EAGAIN.rawValue { return startSending(datagram) }
            removeFirst(status)
        }
    }

    /// Sends a datagram now.
    ///
    /// On a connected socket the error may be that of an earlier datagram, which the peer has
    /// refused. It is reported as such, and this datagram is sent.
    private func trySending(_ datagram: OutgoingDatagram) -> CInt {
        var status = unsafe datagram.trySending(by: raw)
        for _ in 0..<UVRunLoop.DatagramPort.capacity where isConnected && Self.isRefusal(status) {
            inbox.append(.failed(SystemError(.receive, UVError(rawValue: status))))
            hasNews = true
            status = unsafe datagram.trySending(by: raw)
        }
        return status
    }

    private static func isRefusal(_ status: CInt) -> Bool { status == UV_ECONNREFUSED.rawValue }

    /// Passes the first datagram to libuv, which sends it when the kernel has room.
    private func startSending(_ datagram: OutgoingDatagram) {
        let request = SendRequest(datagram.bytes) { [weak self] status in self?.didSend(status) }
        let status = unsafe request.start(raw, datagram.target)
        guard status >= 0 else { return removeFirst(status) }
        isSending = true
        do {
            try host.register()
        } catch {
            fail(.send, error)
        }
    }

    /// Called inside libuv when the first datagram was sent, or was not.
    private func didSend(_ status: CInt) {
        isSending = false
        guard !isClosed else { return }
        removeFirst(status)
        flush()
        if takeNews() { note() }
    }

    private func removeFirst(_ status: CInt) {
        if let datagram = outgoing.takeFirst() { didLeave(datagram, status) }
    }

    /// Counts a datagram that does not wait any more, and notes it if it was not sent.
    private func didLeave(_ datagram: OutgoingDatagram, _ status: CInt = 0) {
        queued.withLock { queued in
            queued.byteCount -= datagram.bytes.count
            queued.count -= 1
        }
        guard status < 0 else { return }
        let error = SystemError(.send, UVError(rawValue: status))
        inbox.append(.sendFailed(error, to: datagram.address))
        hasNews = true
    }

    /// Whether events were added by sending since the last call.
    private func takeNews() -> Bool { exchange(&hasNews, with: false) }

    /// Whether one more failure may wait to be delivered.
    private var mayFail: Bool {
        let waiting = inbox.count { if case .received = $0 { false } else { true } }
        return waiting < UVRunLoop.DatagramPort.capacity
    }

    private func dropOutgoing() {
        while let datagram = outgoing.takeFirst() { didLeave(datagram) }
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
        try attempt(.configure) { () throws(UVError) in
            let place = try MulticastMembership(group, on: interface)
            try accepted(
                unsafe uv_udp_set_membership(raw, place.group, place.interface, membership)
            )
        }
    }

    override func end() {
        dropOutgoing()
        unsafe close(raw)
    }
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
