import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Addresses as text and as `sockaddr`.
@Suite(.timeLimit(.minutes(15))) struct SocketAddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1:80"), ("0.0.0.0", "0.0.0.0:80"), ("::1", "[::1]:80"),
        ("2001:DB8:0:0:0:0:0:5", "[2001:db8::5]:80"), ("::ffff:1.2.3.4", "[::ffff:1.2.3.4]:80"),
        ("fe80::1%7", "[fe80::1%7]:80"),
    ])
    func aHostInNumbersIsRead(host: String, text: String) throws {
        let address = try SocketAddress(host: host, port: 80)
        #expect(address.description == text)
        #expect(address.port == 80)
    }

    @Test(arguments: [
        "localhost", "", "1.2.3", "1.2.3.4.5", "256.0.0.1", "01.2.3.4 ", "::g", ":::", "1.2.3.4\0",
        "fe80::1%", "fe80::1%no such interface", "fe80::1%+1", "fe80::1%-0",
    ])
    func anythingElseIsNoHost(text: String) {
        #expect(throws: UVRunLoop.SocketError(.invalidAddress)) {
            try SocketAddress(host: text, port: 1)
        }
    }

    @Test(arguments: [
        SocketAddress.ipv4Loopback(port: 65535), .ipv4Wildcard(port: 0), .ipv6Loopback(port: 1),
        .ipv6Wildcard(port: 2),
        .ipv6(UVRunLoop.IPv6Host(high: 0x0102_0304_0506_0708, low: 9, scope: 3), port: 443),
        .unix("/tmp/a path"),
    ])
    func theKernelsFormAndBackIsTheSame(address: SocketAddress) throws {
        #expect(SocketAddress(try address.raw) == address)
    }

    @Test func aPathThatIsTooLongIsAnErrorAndNotCut() throws {
        let longest = String(repeating: "é", count: 53) + "x"
        #expect(longest.utf8.count == 107)
        #expect(try SocketAddress(unixPath: longest) == .unix(longest))
        #expect(throws: UVRunLoop.SocketError(.pathTooLong)) {
            try SocketAddress(unixPath: longest + "y")
        }
    }

    @Test(arguments: ["", "a\0b"])
    func aPathIsNotEmptyAndHoldsNoZero(path: String) {
        #expect(throws: UVRunLoop.SocketError(.invalidAddress)) {
            try SocketAddress(unixPath: path)
        }
    }

    @Test func anErrorSaysWhatItIsAndWhatTheSystemAnswered() {
        let error = UVRunLoop.SocketError(system: .connectionRefused)
        #expect(error.code == .connectionRefused)
        #expect(error.description.contains("ECONNREFUSED: connection refused"))
        #expect(UVRunLoop.SocketError(system: .noChild).code == .refusedBySystem)
    }
}
