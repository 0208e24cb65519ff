internal import CUVSupport
import Glibc
import UVRunLoop

/// The calls that make and connect stream sockets.
///
/// Every socket made here is non-blocking and closed on `exec`.
enum Stream {
    /// What `socket` is asked for.
    static let kind =
        CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)

    static func socket(family: CInt) throws(UVError) -> Descriptor {
        Descriptor(owning: try completing { Glibc.socket(family, kind, 0) })
    }
}

/// How a call to connect went.
enum ConnectProgress {
    case done
    /// The socket becomes writable when the outcome is known: see ``Descriptor/takeError()``.
    case underway
    /// The listener's line is full, and the kernel will not tell when there is room: try again
    /// later. Unix-domain sockets only.
    case lineIsFull
}

extension Descriptor {
    func bind(to address: RawAddress) throws(UVError) {
        let status = unsafe address.lend { unsafe Glibc.bind(number, $0, $1) }
        guard status == 0 else { throw UVError(rawValue: -errno) }
    }

    func listen(backlog: Int) throws(UVError) {
        guard Glibc.listen(number, CInt(clamping: backlog)) == 0 else {
            throw UVError(rawValue: -errno)
        }
    }

    /// The next connection of a listener's line; `nil` when nobody waits.
    func accept() throws(UVError) -> Descriptor? {
        while true {
            let status = cuv_accept(number)
            if status >= 0 { return Descriptor(owning: status) }
            if status == -EAGAIN { return nil }
            if status != -EINTR { throw UVError(rawValue: status) }
        }
    }

    func connect(to address: RawAddress) throws(UVError) -> ConnectProgress {
        if unsafe address.lend(to: { unsafe Glibc.connect(number, $0, $1) }) == 0 { return .done }
        switch errno {
        // Interrupted, it goes on all the same; called again, it would answer EALREADY.
        case EINPROGRESS, EINTR: return .underway
        case EAGAIN: return .lineIsFull
        case let code: throw UVError(rawValue: -code)
        }
    }

    /// Sends no more; what was sent already still arrives.
    func endSending() throws(UVError) {
        guard shutdown(number, CInt(SHUT_WR)) == 0 else { throw UVError(rawValue: -errno) }
    }

    /// Has the connection reset when the socket is closed, so that the peer does not take what it
    /// has for all there was.
    ///
    /// Without effect on Unix-domain sockets: the kernel resets those that are closed with unread
    /// input, and no others.
    func resetWhenClosed() {
        var option = linger(l_onoff: 1, l_linger: 0)
        let length = socklen_t(MemoryLayout<linger>.size)
        // An open socket always has this option.
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_LINGER, &option, length)
    }

    // MARK: Options

    /// Takes the error that waits at the socket, such as a connection's outcome; `nil` for none.
    func takeError() throws(UVError) -> UVError? {
        var code: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard unsafe getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else {
            throw UVError(rawValue: -errno)
        }
        return code == 0 ? nil : UVError(rawValue: -code)
    }

    /// Sends small pieces of TCP at once instead of waiting for more of them.
    func setNoDelay(_ isOn: Bool) throws(UVError) {
        try set(TCP_NODELAY, of: CInt(IPPROTO_TCP), to: isOn)
    }

    /// Lets a TCP listener have the port of one that was closed a moment ago.
    func setReuseAddress(_ isOn: Bool) throws(UVError) {
        try set(SO_REUSEADDR, of: SOL_SOCKET, to: isOn)
    }

    /// Keeps an IPv6 listener's hands off the IPv4 port of the same number.
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

    // MARK: Who

    func localAddress() throws(UVError) -> RawAddress {
        try unsafe RawAddress { unsafe getsockname(number, $0, &$1) }
    }

    func peerAddress() throws(UVError) -> RawAddress {
        try unsafe RawAddress { unsafe getpeername(number, $0, &$1) }
    }

    /// Who is at the other end of a Unix-domain connection, by the kernel's word.
    ///
    /// For the side that connected that is who called `listen`. It is what held at that moment: the
    /// process may have ended since, and its id have been given to another.
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
