import CUV
internal import UVLibc
import UVRunLoop
import UVRunLoopPorts

/// A request for the addresses of a name, which a thread of libuv's pool finds.
@safe
final class AddressRequest: LoopHandle, @unchecked Sendable {
    typealias Outcome = Result<[UVRunLoop.SocketAddress], UVRunLoop.SystemError>

    private let raw: UnsafeMutablePointer<uv_getaddrinfo_t>
    private let didEnd: @Sendable (Outcome) -> Void

    /// Queues a request.
    ///
    /// - Parameters:
    ///   - name: The host, the service and the constraints.
    ///   - didEnd: Called inside libuv with the outcome, unless the request was cancelled.
    /// - Throws: ``UVRunLoop/SystemError`` if the loop has ended or libuv does not accept the host.
    init(
        _ name: ServiceName,
        didEnd: @escaping @Sendable (Outcome) -> Void
    ) throws(UVRunLoop.SystemError) {
        guard name.isValid else { throw UVRunLoop.SystemError(.resolve, .invalidArgument) }
        let site = try LoopSite(.resolve)
        try attempt(.resolve) { () throws(UVError) in try ThreadPool.ensure() }
        unsafe raw = .allocate(capacity: 1)
        self.didEnd = didEnd
        super.init(site)
        host.insert(self)
        unsafe raw.pointee.data = unsafe data
        let status = start(name)
        guard status < 0 else { return }
        release()
        throw UVRunLoop.SystemError(.resolve, UVError(rawValue: status))
    }

    private func start(_ name: ServiceName) -> CInt {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = name.family.map { $0 == .ipv4 ? AF_INET : AF_INET6 } ?? AF_UNSPEC
        let isStream = name.transport == .stream
        unsafe hints.ai_socktype = CInt(isStream ? SOCK_STREAM.rawValue : SOCK_DGRAM.rawValue)
        let service = name.service.map { Array($0.utf8CString) }
        return SharedCall.make {
            unsafe uv_getaddrinfo(host.uvLoop, raw, Self.didFind, name.host, service, &hints)
        }
    }

    private static let didFind: uv_getaddrinfo_cb = { raw, status, found in
        defer { unsafe uv_freeaddrinfo(found) }
        guard let data = unsafe raw?.pointee.data else { return }
        let request = unsafe Unmanaged<AddressRequest>.fromOpaque(data).takeUnretainedValue()
        if status != UV_EAI_CANCELED.rawValue {
            request.didEnd(unsafe outcome(status, found))
            request.note()
        }
        request.release()
    }

    private static func outcome(
        _ status: CInt,
        _ found: UnsafeMutablePointer<addrinfo>?
    ) -> Outcome {
        guard status >= 0 else {
            return .failure(UVRunLoop.SystemError(.resolve, UVError(rawValue: status)))
        }
        var addresses: [UVRunLoop.SocketAddress] = []
        var next = unsafe found
        while let info = unsafe next {
            if let address = unsafe address(of: info), !addresses.contains(address) {
                addresses.append(address)
            }
            unsafe next = unsafe info.pointee.ai_next
        }
        return .success(addresses)
    }

    private static func address(
        of info: UnsafeMutablePointer<addrinfo>
    ) -> UVRunLoop.SocketAddress? {
        guard let raw = unsafe info.pointee.ai_addr else { return nil }
        let length = unsafe Int(info.pointee.ai_addrlen)
        let bytes = unsafe UnsafeRawBufferPointer(start: raw, count: length)
        return UVRunLoop.SocketAddress(RawAddress(bytes: unsafe Array(bytes)))
    }

    private func release() {
        unsafe raw.deallocate()
        didRelease()
    }

    /// Cancels the request; one that has begun goes on, and its outcome is ignored.
    override func end() {
        guard !isReleased else { return }
        let request = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_req_t.self)
        _ = SharedCall.make { unsafe uv_cancel(request) }
    }
}
