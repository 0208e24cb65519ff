internal import CUVSupport
internal import UVLibc
import UVRunLoop

/// System calls for stream sockets.
///
/// All sockets made here are non-blocking and close-on-exec, and have no number of a standard
/// descriptor, which other code of the process may write to.
enum Stream {
    /// The type argument of `socket`.
    static let kind =
        CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)

    static func socket(family: CInt) throws(UVError) -> Descriptor {
        try Descriptor(opened: completing { UVLibc.socket(family, kind, 0) })
    }

    static func unixSocket() throws(UVError) -> Descriptor { try socket(family: AF_UNIX) }
}

/// The result of `connect`.
enum ConnectProgress {
    case done
    /// The socket becomes writable when the result is known: see ``Descriptor/takeError()``.
    case inProgress
    /// The listener's backlog is full, and no event reports when there is room, so connecting is
    /// retried. Unix-domain sockets only.
    case backlogFull
}

extension Descriptor {
    func bind(to address: RawAddress) throws(UVError) {
        let status = unsafe address.lend { unsafe UVLibc.bind(number, $0, $1) }
        guard status == 0 else { throw UVError(rawValue: -errno) }
    }

    func listen(backlog: Int) throws(UVError) {
        guard UVLibc.listen(number, CInt(clamping: backlog)) == 0 else {
            throw UVError(rawValue: -errno)
        }
    }

    /// The next pending connection; `nil` if there is none.
    func accept() throws(UVError) -> Descriptor? {
        while true {
            let status = cuv_accept(number)
            if status >= 0 { return try Descriptor(opened: status) }
            if status == -EAGAIN { return nil }
            if status != -EINTR { throw UVError(rawValue: status) }
        }
    }

    func connect(to address: RawAddress) throws(UVError) -> ConnectProgress {
        if unsafe address.lend(to: { unsafe UVLibc.connect(number, $0, $1) }) == 0 { return .done }
        switch errno {
        // An interrupted connect goes on in the kernel; calling it again would fail with EALREADY.
        case EINPROGRESS, EINTR: return .inProgress
        case EAGAIN: return .backlogFull
        case let code: throw UVError(rawValue: -code)
        }
    }

    /// Shuts down the sending side; bytes already sent still arrive.
    func endSending() throws(UVError) {
        guard shutdown(number, CInt(SHUT_WR)) == 0 else { throw UVError(rawValue: -errno) }
    }

    /// Makes `close` reset the connection, so that the peer does not mistake partial data for all
    /// of it.
    ///
    /// It has no effect on Unix-domain sockets: the kernel resets only those that are closed with
    /// unread input.
    func resetWhenClosed() {
        var option = linger(l_onoff: 1, l_linger: 0)
        let length = socklen_t(MemoryLayout<linger>.size)
        // This cannot fail for an open socket.
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_LINGER, &option, length)
    }

    // MARK: Options

    /// Takes the socket's pending error, such as the result of connecting; `nil` if there is none.
    func takeError() throws(UVError) -> UVError? {
        var code: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard unsafe getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else {
            throw UVError(rawValue: -errno)
        }
        return code == 0 ? nil : UVError(rawValue: -code)
    }

    /// Disables Nagle's algorithm, so that small TCP writes are sent at once.
    func setNoDelay(_ isOn: Bool) throws(UVError) {
        try set(TCP_NODELAY, of: CInt(IPPROTO_TCP), to: isOn)
    }

    /// Lets a TCP listener bind to the port of a recently closed one.
    func setReuseAddress(_ isOn: Bool) throws(UVError) {
        try set(SO_REUSEADDR, of: SOL_SOCKET, to: isOn)
    }

    /// Restricts an IPv6 listener to IPv6 clients, and leaves the IPv4 port free.
    func setIPv6Only(_ isOn: Bool) throws(UVError) {
        try set(IPV6_V6ONLY, of: CInt(IPPROTO_IPV6), to: isOn)
    }

    private func set(_ option: CInt, of level: CInt, to isOn: Bool) throws(UVError) {
        var value: CInt = isOn ? 1 : 0
        let length = socklen_t(MemoryLayout<CInt>.size)
        guard unsafe setsockopt(number, level, option, &value, length) == 0 else {
            throw UVError(rawValue: -errno)
        }
    }

    // MARK: Addresses and credentials

    func localAddress() throws(UVError) -> RawAddress {
        try unsafe RawAddress { unsafe getsockname(number, $0, &$1) }
    }

    func peerAddress() throws(UVError) -> RawAddress {
        try unsafe RawAddress { unsafe getpeername(number, $0, &$1) }
    }

    /// The credentials of a Unix-domain connection's peer, as reported by the kernel.
    ///
    /// The connecting side gets those of the process that called `listen`, as of that call: the
    /// process may have ended since, and its id may have been reused.
    func peerCredentials() throws(UVError) -> PeerCredentials {
        var credentials = cuv_credentials()
        try accepted(unsafe cuv_peer_credentials(number, &credentials))
        return PeerCredentials(
            process: credentials.process,
            user: credentials.user,
            group: credentials.group
        )
    }
}
