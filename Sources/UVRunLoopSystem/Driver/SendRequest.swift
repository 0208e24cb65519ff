import CUV
import UVRunLoop
import UVRunLoopPorts

/// A datagram that waits to be sent.
struct OutgoingDatagram: Sendable {
    let bytes: [UInt8]
    /// `nil` for the peer of a connected socket.
    let target: RawAddress?
    let address: UVRunLoop.SocketAddress?

    /// Has the kernel send it, if it has room.
    ///
    /// - Returns: libuv's status: `UV_EAGAIN` if there is no room.
    func trySending(by socket: UnsafeMutablePointer<uv_udp_t>) -> CInt {
        // libuv's buffers are shorter, and so are datagrams.
        guard bytes.count <= Int(CUnsignedInt.max) else { return UV_EMSGSIZE.rawValue }
        return unsafe bytes.withUnsafeBytes { bytes -> CInt in
            let start = unsafe UnsafeMutableRawBufferPointer(mutating: bytes)
                .bindMemory(to: CChar.self)
            var buffer = unsafe uv_buf_init(start.baseAddress, CUnsignedInt(bytes.count))
            guard let target else { return unsafe uv_udp_try_send(socket, &buffer, 1, nil) }
            return unsafe target.lend { address, _ in
                unsafe uv_udp_try_send(socket, &buffer, 1, address)
            }
        }
    }
}

/// A `uv_udp_send_t` and its bytes, until libuv has sent them.
///
/// libuv calls back for each request, at the latest when its socket is closed.
@safe
final class SendRequest {
    private let raw: UnsafeMutablePointer<uv_udp_send_t>
    private let bytes: UnsafeMutableBufferPointer<CChar>
    private let didEnd: (CInt) -> Void

    init(_ bytes: [UInt8], didEnd: @escaping (CInt) -> Void) {
        unsafe raw = .allocate(capacity: 1)
        unsafe self.bytes = .allocate(capacity: max(bytes.count, 1))
        self.didEnd = didEnd
        unsafe _ = UnsafeMutableRawBufferPointer(self.bytes).initializeMemory(
            as: UInt8.self,
            from: bytes
        )
        count = bytes.count
    }

    private let count: Int

    /// Passes the request to libuv, which keeps it until the callback.
    ///
    /// - Returns: libuv's status; there is no callback if it is negative.
    func start(_ socket: UnsafeMutablePointer<uv_udp_t>, _ target: RawAddress?) -> CInt {
        unsafe raw.pointee.data = unsafe Unmanaged.passRetained(self).toOpaque()
        var buffer = unsafe uv_buf_init(bytes.baseAddress, CUnsignedInt(count))
        let status: CInt
        if let target {
            status = unsafe target.lend { address, _ in
                unsafe uv_udp_send(raw, socket, &buffer, 1, address, Self.didSend)
            }
        } else {
            status = unsafe uv_udp_send(raw, socket, &buffer, 1, nil, Self.didSend)
        }
        if status < 0 { unsafe Unmanaged.passUnretained(self).release() }
        return status
    }

    private static let didSend: uv_udp_send_cb = { raw, status in
        guard let data = unsafe raw?.pointee.data else { return }
        unsafe Unmanaged<SendRequest>.fromOpaque(data).takeRetainedValue().didEnd(status)
    }

    deinit {
        unsafe bytes.deallocate()
        unsafe raw.deallocate()
    }
}
