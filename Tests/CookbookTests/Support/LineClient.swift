import Glibc
@_exported import TestSupport

/// A client with blocking system calls, for servers that speak in lines.
final class LineClient {
    private let number: CInt
    private var received: [UInt8] = []

    /// Connects to a port of this machine.
    init(port: UInt16) {
        number = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafeBytes(of: &address) { bytes in
            connect(
                number,
                bytes.bindMemory(to: sockaddr.self).baseAddress,
                socklen_t(bytes.count)
            )
        }
        precondition(status == 0, "No connection: \(errno).")
    }

    func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        precondition(Glibc.send(number, bytes, bytes.count, CInt(MSG_NOSIGNAL)) > 0)
    }

    /// The next line, or `nil` at the end of the connection.
    func line() -> String? {
        while true {
            if let end = received.firstIndex(of: 10) {
                defer { received.removeSubrange(...end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            guard waitUntilReadable(number) else { return nil }
            let count = read(number, &buffer, buffer.count)
            guard count > 0 else { return nil }
            received += buffer[..<count]
        }
    }

    func close() { shutdown(number, CInt(SHUT_RDWR)) }

    deinit { Glibc.close(number) }
}
