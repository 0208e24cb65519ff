import Glibc
import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Addresses of listeners, and their socket files.
@Suite(.timeLimit(.minutes(15))) struct SocketListenTests {
    private typealias SocketError = UVRunLoop.SocketError

    private func refusal(
        at address: SocketAddress,
        replacing: Bool = false
    ) -> SocketError.Code? {
        var options = SocketPort.ListenOptions()
        options.replacesStaleSocket = replacing
        do {
            let port = try SocketPort(listeningAt: address, options: options) { _, _ in }
            port.invalidate()
            return nil
        } catch {
            return error.code
        }
    }

    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    @Test func thePortThatTheSystemChoseIsKnown() throws {
        let listener = try SocketPort(listeningAt: .ipv4Loopback(port: 0)) { _, _ in }
        let port = try #require(listener.localAddress?.port)
        #expect(port > 0)
        #expect(listener.localAddress == .ipv4Loopback(port: port))
        #expect(listener.peerAddress == nil)
        listener.invalidate()
        #expect(listener.localAddress == nil && !listener.isValid)
    }

    @Test func aPortThatIsTakenIsInUseAndFreeAfterwards() throws {
        let listener = try SocketPort(listeningAt: .ipv4Loopback(port: 0)) { _, _ in }
        let address = try #require(listener.localAddress)
        #expect(refusal(at: address) == .addressInUse)
        listener.invalidate()
        #expect(refusal(at: address) == nil)
    }

    @Test func aListenerThatCannotBeMadeLeavesNoFile() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                let folder = TemporaryFolder()
                let path = folder.path + "/socket"
                let noFollow: UInt32 = 0x100
                refuse(.fileStatus, with: ENOMEM, where: [3: noFollow])
                let port = try? SocketPort(listeningAt: .unix(path)) { _, _ in }
                precondition(port == nil)
                precondition(access(path, F_OK) != 0)
            }
        }
    }

    @Test func anAddressOfAnotherMachineIsNotAvailable() throws {
        let address = try SocketAddress(host: "192.0.2.1", port: 0)
        #expect(refusal(at: address) == .addressNotAvailable)
    }

    @Test func theFileOfAListenerGoesWithIt() throws {
        let place = Place()
        let path = place.path + "/socket"
        let listener = try SocketPort(listeningAt: .unix(path)) { _, _ in }
        #expect(exists(path))
        #expect(listener.localAddress == .unix(path))
        #expect(refusal(at: .unix(path)) == .addressInUse)
        #expect(refusal(at: .unix(path), replacing: true) == .addressInUse)
        listener.invalidate()
        #expect(!exists(path))
    }

    @Test func aListenerThatIsLetGoLeavesNoFile() throws {
        let place = Place()
        let path = place.path + "/socket"
        do { _ = try SocketPort(listeningAt: .unix(path)) { _, _ in } }
        #expect(!exists(path))
    }

    @Test func aFileThatIsSomebodyElsesByNowStays() throws {
        let place = Place()
        let path = place.path + "/socket"
        let first = try SocketPort(listeningAt: .unix(path)) { _, _ in }
        unlink(path)
        let second = try SocketPort(listeningAt: .unix(path)) { _, _ in }
        first.invalidate()
        #expect(exists(path))
        second.invalidate()
        #expect(!exists(path))
    }

    @Test func aStaleSocketGivesWayOnlyWhenAskedTo() throws {
        let place = Place()
        let path = place.path + "/socket"
        try makeStale(path)
        #expect(refusal(at: .unix(path)) == .addressInUse)
        #expect(exists(path))
        #expect(refusal(at: .unix(path), replacing: true) == nil)
    }

    @Test func nothingGivesWayInADirectoryThatAnotherProcessLocks() throws {
        let place = Place()
        let path = place.path + "/socket"
        try makeStale(path)
        let directory = open(place.path, O_RDONLY | O_DIRECTORY)
        #expect(flock(directory, LOCK_EX) == 0)
        #expect(refusal(at: .unix(path), replacing: true) == .addressInUse)
        #expect(exists(path))
        flock(directory, LOCK_UN)
        close(directory)
        #expect(refusal(at: .unix(path), replacing: true) == nil)
    }

    @Test func copiesOfDescriptorsInForkedChildrenDoNotKeepTheDirectory() async {
        await #expect(processExitsWith: .success) { inQuietProcess(replaceWhileForking) }
    }

    @Test func whatIsNoSocketNeverGivesWay() throws {
        let place = Place()
        let path = place.path + "/file"
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        #expect(refusal(at: .unix(path), replacing: true) == .addressInUse)
        let link = place.path + "/link"
        try makeStale(place.path + "/socket")
        symlink(place.path + "/socket", link)
        #expect(refusal(at: .unix(link), replacing: true) == .addressInUse)
        #expect(exists(path) && exists(link))
    }

    @Test func aSocketThatCannotListenLeavesNoFile() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let path = place.path + "/socket"
            refuse(.listen, with: ENOMEM)
            do {
                _ = try SocketPort(listeningAt: .unix(path)) { _, _ in }
                preconditionFailure("The socket listens.")
            } catch {}
            precondition(access(path, F_OK) != 0)
        }
    }

    @Test func aPathThatCannotBeMadeIsAnError() throws {
        let place = Place()
        #expect(refusal(at: .unix(place.path + "/missing/socket")) == .noSuchPath)
        #expect(refusal(at: .unix(String(repeating: "x", count: 108))) == .pathTooLong)
        #expect(refusal(at: .unix("")) == .invalidAddress)
    }

    @Test(arguments: [
        (SocketAddress.ipv4Wildcard(port: 0), "0.0.0.0", SocketAddress.ipv4Loopback(port:)),
        (.ipv6Wildcard(port: 0), "[::]", SocketAddress.ipv6Loopback(port:)),
    ])
    func aListenerAtAllAddressesIsReachedAtTheLoopbackAddress(
        address: SocketAddress,
        text: String,
        loopback: @Sendable (UInt16) -> SocketAddress
    ) throws {
        try withLoop { loop in
            let server = try Server(loop, at: address)
            let port = try #require(server.address.port)
            #expect("\(server.address)" == "\(text):\(port)")
            let peer = try Peer(connectingTo: loopback(port))
            peer.write("hello")
            loop.run(untilTrue: { server.log.count > 0 })
            #expect(server.log.entries == ["received hello"])
            server.close()
        }
    }

    @Test func aLoopPrintsListenersByTheirKind() throws {
        try withLoop { loop in
            let listener = try SocketPort(listeningAt: .ipv4Loopback(port: 0)) { _, _ in }
            listener.label = "clients"
            loop.add(listener)
            #expect(loop.debugDescription.contains("    SocketPort \"clients\" 0x"))
            listener.invalidate()
        }
    }

    @Test func anotherKindOfSocketIsNotReplaced() throws {
        let place = Place()
        let path = place.path + "/datagrams"
        let other = Descriptor(owning: socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0))
        try other.bind(to: try SocketAddress.unix(path).raw)
        #expect(refusal(at: .unix(path), replacing: true) == .addressInUse)
        #expect(exists(path))
        withExtendedLifetime(other) {}
    }

    @Test func aFileWithARelativePathIsRemovedFromAnotherDirectory() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            precondition(chdir(place.path) == 0)
            let port = try SocketPort(listeningAt: .unix("socket")) { _, _ in }
            precondition(access(place.path + "/socket", F_OK) == 0)
            precondition(chdir("/") == 0)
            port.invalidate()
            precondition(access(place.path + "/socket", F_OK) != 0)
        }
    }

    @Test func oneOfManyTakesAStaleSocketOver() throws {
        let place = Place()
        let path = place.path + "/socket"
        for _ in 0..<30 {
            try makeStale(path)
            let ports = Guarded<[SocketPort]>([])
            var options = SocketPort.ListenOptions()
            options.replacesStaleSocket = true
            let threads = (0..<8).map { _ in
                startUncheckedThread {
                    let port = try? SocketPort(
                        listeningAt: .unix(path),
                        options: options,
                        sendableHandler: { _, _ in }
                    )
                    if let port { ports.withLock { $0.append(port) } }
                }
            }
            threads.forEach { $0.join() }
            let winners = ports.withLock { $0 }
            #expect(winners.count == 1)
            let peer = try Peer(connectingTo: .unix(path))
            peer.close()
            winners.forEach { $0.invalidate() }
        }
    }
}

/// Leaves a socket file without a listener.
///
/// It is shut down before it is closed, because a child that another test forks may keep a copy of
/// it for a while.
private func makeStale(_ path: String) throws {
    let socket = try UVRunLoopPorts.Stream.socket(family: AF_UNIX)
    try socket.bind(to: try SocketAddress.unix(path).raw)
    try socket.listen(backlog: 1)
    shutdown(socket.number, CInt(SHUT_RDWR))
}

/// Replaces stale sockets while another thread forks children that keep every descriptor for longer
/// than a listener waits for the directory.
private func replaceWhileForking() throws {
    let isDone = Guarded(false)
    let children = Guarded<[pid_t]>([])
    let place = Place()
    let path = place.path + "/socket"
    let forks = startUncheckedThread {
        for _ in 0..<200 where !isDone.withLock({ $0 }) {
            let child = startChild { usleep(1_000_000) == 0 ? 0 : 1 }
            children.withLock { $0.append(child) }
            usleep(2000)
        }
    }
    // Not on the thread that was forked: see `startChild`.
    try onAnotherThread {
        var options = SocketPort.ListenOptions()
        options.replacesStaleSocket = true
        for _ in 0..<1000 {
            try makeStale(path)
            let port = try SocketPort(listeningAt: .unix(path), options: options) { _, _ in }
            port.invalidate()
        }
    }
    isDone.withLock { $0 = true }
    forks.join()
    for child in children.withLock({ $0 }) { precondition(awaitEnd(of: child) == 0) }
}
