import TestSupport
import Testing
import UVRunLoop
import UVRunLoopPorts
import UVRunLoopSystem

private typealias Resolver = UVRunLoop.Resolver
private typealias Address = UVRunLoop.SocketAddress

/// Lookups that need no network.
@Suite(.timeLimit(.minutes(15))) struct ResolverTests {
    @Test(arguments: ["", "65536", "70000", "99999999999", "-1", "+80", " 80"])
    func aNumberThatIsNoPortThrows(service: String) {
        withLoop { _ in
            let found = code { () throws(UVRunLoop.SystemError) in
                _ = try UVRunLoop.Resolver(host: "127.0.0.1", service: service) { _, _ in }
            }
            #expect(found == .invalidArgument)
        }
    }

    @Test func numericHostsAndPortsAreThemselves() throws {
        #expect(try outcome(of: "127.0.0.1", "80").get() == [.ipv4Loopback(port: 80)])
        #expect(try outcome(of: "::1", "65535").get() == [.ipv6Loopback(port: 65_535)])
        #expect(try outcome(of: "127.0.0.1", nil).get() == [.ipv4Loopback(port: 0)])
    }

    @Test func localhostIsFoundOnceForEachFamily() throws {
        let addresses = try outcome(of: "localhost", "7").get()
        #expect(addresses.contains(.ipv4Loopback(port: 7)))
        #expect(Set(addresses).count == addresses.count)
    }

    @Test func aFamilyConstrainsTheAddresses() throws {
        withLoop { loop in
            let found = Box<[Address]>([])
            let resolver = try? Resolver(host: "localhost", service: "7", family: .ipv4) {
                found.value = (try? $1.get()) ?? []
            }
            guard let resolver else { return }
            loop.add(resolver, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(found.value == [.ipv4Loopback(port: 7)])
        }
        let other = failure(of: try outcome(of: "::1", "7", family: .ipv4))
        #expect(other != nil)
    }

    @Test func anAddressCanBeConnectedTo() throws {
        let address = try #require(try outcome(of: "127.0.0.1", "0").get().first)
        try withLoop { _ in
            let listener = try UVRunLoop.SocketPort(listeningAt: address) { _, _ in }
            #expect(listener.isValid)
            listener.invalidate()
        }
    }

    @Test func namesThatDoNotExistFail() throws {
        let failure = try #require(failure(of: try outcome(of: "no.such.host.invalid", nil)))
        // Without a network, the name service may not reply at all.
        #expect([.unknownHost, .temporaryFailure].contains(failure.code))
        #expect(failure.attempt == .resolve && failure.underlying != nil)
    }

    @Test func servicesThatDoNotExistFail() throws {
        let failure = try #require(failure(of: try outcome(of: "127.0.0.1", "no such service")))
        #expect(failure.code == .unknownHost)
    }

    @Test func textsThatCannotBeNamesThrow() {
        withLoop { _ in
            let texts = ["a\0b", String(repeating: "a", count: 5_000)]
            for text in texts {
                #expect(throws: UVRunLoop.SystemError.self) {
                    _ = try Resolver(host: text) { _, _ in }
                }
            }
            #expect(throws: UVRunLoop.SystemError.self) {
                _ = try Resolver(host: "::1", service: "1\0") { _, _ in }
            }
        }
    }

    @Test func aThousandCancelledLookupsLeaveNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                try withLoop { loop in
                    let first = try Resolver(host: "::1") { _, _ in }
                    loop.add(first, forMode: .default)
                    loop.run(mode: .default, for: .seconds(60))
                    let before = openDescriptorCount()
                    for _ in 0..<1_000 {
                        let resolver = try Resolver(host: "127.0.0.1") { _, _ in
                            preconditionFailure("The lookup was cancelled.")
                        }
                        loop.add(resolver, forMode: .default)
                        resolver.invalidate()
                    }
                    let last = try Resolver(host: "::1") { _, _ in }
                    loop.add(last, forMode: .default)
                    precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
                    precondition(openDescriptorCount() == before)
                }
            }
        }
    }

    @Test func aThreadMayEndDuringALookup() {
        for _ in 0..<20 {
            onAnotherThread {
                for _ in 0..<10 {
                    let resolver = try? Resolver(host: "localhost") { _, _ in }
                    guard let resolver else { return }
                    UVRunLoop.current.add(resolver, forMode: .default)
                }
            }
        }
    }

    @Test func aTaskGetsTheAddresses() async throws {
        try await UVRunLoop.withThread { loop in
            let addresses = try await loop.resolve(host: "127.0.0.1", service: "80")
            #expect(addresses == [.ipv4Loopback(port: 80)])
            await #expect(throws: UVRunLoop.SystemError.self) {
                try await loop.resolve(host: "::1", service: "80", family: .ipv4)
            }
            return
        }
    }

    @Test func aCancelledTaskGetsNoAddresses() async throws {
        try await UVRunLoop.withThread { loop in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await loop.resolve(host: "localhost")
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            return
        }
    }
}

private func outcome(
    of host: String,
    _ service: String?,
    family: Resolver.Family? = nil
) throws -> Resolver.Outcome {
    try withLoop { loop in
        let outcome = Box<Resolver.Outcome?>(nil)
        let resolver = try Resolver(host: host, service: service, family: family) {
            outcome.value = $1
        }
        loop.add(resolver, forMode: .default)
        #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
        return try #require(outcome.value)
    }
}

private func failure(of outcome: Resolver.Outcome) -> UVRunLoop.SystemError? {
    guard case .failure(let error) = outcome else { return nil }
    return error
}
