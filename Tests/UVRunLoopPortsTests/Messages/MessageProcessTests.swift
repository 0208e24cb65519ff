import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Ports between processes that end at inconvenient times.
///
/// Each test has its own process to fork from, and forks before it starts a thread: a lock that
/// another thread holds at a fork stays held in the child.
@Suite(.timeLimit(.minutes(15))) struct MessageProcessTests {
    @Test func aPeerThatIsKilledAtAnyByteOfAFrameDeliversNoPartOfIt() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let server = startChild {
                let log = EventLog()
                return serve(place) { _, message in
                    log.note("\(message.id)")
                    return Array(log.entries.joined(separator: " ").utf8)
                }
            }
            try connect(place).invalidate()
            let bytes = Frame.request(1, 7, sampleBytes(200)).head()
            for length in 0..<bytes.count {
                let child = startChild {
                    guard let peer = try? place.rawSocket() else { return 1 }
                    peer.write(Array(bytes.prefix(length)))
                    return kill(getpid(), SIGKILL)
                }
                #expect(awaitEnd(of: child) == -SIGKILL)
            }
            let reply = try place.remote().request(id: 9)
            #expect(reply == Array("9".utf8))
            kill(server, SIGKILL)
            _ = awaitEnd(of: server)
        }
    }

    @Test func aServerThatIsKilledWhileItHandlesARequestEndsTheWait() async {
        await #expect(processExitsWith: .success) {
            let (place, told) = (Place(), EventLog())
            let child = startChild {
                serve(place) { _, _ in
                    kill(getpid(), SIGKILL)
                    return nil
                }
            }
            let remote = try connect(place)
            remote.invalidationHandler = { _ in told.note("invalid") }
            #expect(throws: MessagePortError.becameInvalid) { try remote.request([1, 2, 3]) }
            #expect(told.entries == ["invalid"])
            #expect(awaitEnd(of: child) == -SIGKILL)
            #expect(throws: MessagePortError.noSuchPort) { try place.remote() }
        }
    }

    @Test func aNameThatAnotherProcessHoldsIsRefusedAndTakenWhenItIsKilled() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            for _ in 0..<5 {
                let child = startChild { serve(place) { _, message in message.data } }
                let remote = try connect(place)
                #expect(remote.peer.process == child)
                #expect(throws: MessagePortError.nameTaken) { try place.local { _, _ in nil } }
                let reply = try remote.request([5])
                #expect(reply == [5])
                kill(child, SIGKILL)
                #expect(awaitEnd(of: child) == -SIGKILL)
            }
            let port = try place.local { _, _ in nil }
            #expect(port.isValid)
        }
    }

    @Test func manyProcessesSendNumberedMessagesAndNoneIsLost() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let counts = Guarded<[Int32: Int32]>([:])
            let errors = EventLog()
            let children = (0..<8).map { _ in
                startChild {
                    guard let remote = try? connect(place) else { return 1 }
                    for id in 1...500 {
                        let mode: UVRunLoop.Mode? = id % 50 == 0 ? .reply : nil
                        do {
                            try remote.send(
                                id: Int32(id),
                                data: [UInt8](repeating: 1, count: id),
                                sendLimit: .seconds(60),
                                receiveLimit: .seconds(60),
                                replyMode: mode
                            )
                        } catch {
                            return 2
                        }
                    }
                    return 0
                }
            }
            let server = try PortServer(place) { _, message in
                let sender = message.sender.process
                let expected = counts.withLock { counts -> Int32 in
                    counts[sender, default: 0] += 1
                    return counts[sender, default: 0]
                }
                if expected != message.id { errors.note("\(message.id), not \(expected)") }
                return message.isReplyExpected ? [] : nil
            }
            for child in children { #expect(awaitEnd(of: child) == 0) }
            server.stop()
            #expect(errors.entries == [])
            #expect(counts.withLock { Array($0.values) } == Array(repeating: 500, count: 8))
        }
    }

    // MARK: Trust

    @Test(.enabled(if: geteuid() == 0))
    func anotherUserIsRefusedEvenWhereItCanReachTheSocket() async {
        await #expect(processExitsWith: .success) {
            let (place, log) = (Place(), EventLog())
            let files = try place.directory().files(of: PortName("port"))
            let pipe = Pipe()
            let child = startChild {
                pipe.readWaiting()
                guard setgid(65_534) == 0, setuid(65_534) == 0 else { return 1 }
                guard let socket = try? Stream.unixSocket(),
                    let address = RawAddress(unixPath: files.socket),
                    case .done? = try? socket.connect(to: address)
                else { return 2 }
                let peer = RawPeer(SharedSocket(socket))
                peer.write(Frame.request(1, 5, []).head())
                guard peer.readFrame() == .refusal(.peerNotPermitted) else { return 3 }
                return peer.read() == [] ? 0 : 4
            }
            let server = try PortServer(place) { _, message in
                log.note("\(message.id)")
                return []
            }
            // Permissions as open as possible: any user may enter and connect.
            chmod(place.path, 0o755)
            chmod(place.namesPath, 0o755)
            chmod(files.socket, 0o777)
            pipe.write("x")
            #expect(awaitEnd(of: child) == 0)
            server.stop()
            #expect(log.entries == [])
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func aServerOfAnotherUserIsRefusedBySenders() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let files = try place.directory().files(of: PortName("port"))
            chmod(place.path, 0o755)
            chmod(place.namesPath, 0o777)
            let pipe = Pipe()
            let child = startChild {
                guard setuid(65_534) == 0, let socket = try? Stream.unixSocket(),
                    let address = RawAddress(unixPath: files.socket)
                else { return 1 }
                try? socket.bind(to: address)
                try? socket.listen(backlog: 4)
                pipe.write("x")
                Glibc.pause()
                return 0
            }
            pipe.readWaiting()
            chmod(place.namesPath, 0o700)
            chmod(place.path, 0o700)
            #expect(throws: MessagePortError.fileNotTrusted(files.socket)) { try place.remote() }
            // Even if the file passed for a trusted one, the listener's kernel credentials would be
            // checked.
            chown(files.socket, 0, 0)
            #expect(throws: MessagePortError.peerNotPermitted) { try place.remote() }
            kill(child, SIGKILL)
            _ = awaitEnd(of: child)
        }
    }

    // MARK: Descriptors

    @Test func descriptorsThatAPeerSendsAreNotTaken() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                let place = Place()
                let server = try PortServer(place) { _, message in message.data }
                let peer = try place.rawSocket()
                let frame = Frame.request(1, 0, [1]).head()
                peer.write(frame)
                precondition(peer.readFrame() == .reply(1, [1]))
                let before = openDescriptors()
                for _ in 0..<20 {
                    sendWithDescriptors(frame, peer.socket.descriptor.number)
                    precondition(peer.readFrame() == .reply(1, [1]))
                }
                precondition(openDescriptors() == before)
                server.stop()
            }
        }
    }

    @Test func nothingIsLeftOpenByPortsThatAreGone() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                let place = Place()
                func round() throws {
                    let server = try PortServer(place) { _, message in message.data }
                    try onAnotherThread {
                        let reply = try place.remote().request([1])
                        precondition(reply == [1])
                    }
                    server.stop()
                }
                try round()
                let before = openDescriptors()
                for _ in 0..<20 { try round() }
                precondition(openDescriptors() == before)
            }
        }
    }

    @Test func acceptingPausesWithoutDescriptorsAndGoesOnWithThem() async {
        await #expect(processExitsWith: .success) { inQuietProcess(pauseAccepting) }
    }
}

private func pauseAccepting() throws {
    let place = Place()
    let pipe = Pipe()
    let child = startChild {
        // The server's process has no descriptors left when this one connects.
        pipe.readWaiting()
        guard let remote = try? place.remote() else { return 1 }
        let reply = try? remote.request([7])
        return reply == [7] ? 0 : 2
    }
    let server = try PortServer(place) { _, message in message.data }
    let table = FullTable()
    pipe.write("x")
    let start = processProcessorTime()
    usleep(400_000)
    precondition(processProcessorTime() - start < 200_000_000, "It spins.")
    var status: CInt = 0
    precondition(waitpid(child, &status, WNOHANG) == 0, "It ended with \(outcome(of: status)).")
    table.clear()
    let end = awaitEnd(of: child)
    precondition(end == 0, "It ended with \(end).")
    server.stop()
}

/// Serves a port until the process is killed.
private func serve(
    _ place: Place,
    _ handler: @escaping @Sendable (Local, Message) -> [UInt8]?
) -> CInt {
    guard let port = try? place.local("port", handler) else { return 1 }
    UVRunLoop.current.add(port, forMode: .default)
    UVRunLoop.current.run()
    return 0
}

/// Connects as soon as the port is served.
private func connect(_ place: Place) throws -> Remote {
    for _ in 0..<30_000 {
        if let remote = try? place.remote() { return remote }
        usleep(1_000)
    }
    return try place.remote()
}

/// Sends bytes with two descriptors attached.
private func sendWithDescriptors(_ bytes: [UInt8], _ socket: CInt) {
    var bytes = bytes
    // A control message: its length, level and type, then the descriptors.
    var control: [UInt64] = [24, UInt64(SCM_RIGHTS) << 32 | UInt64(SOL_SOCKET), 0 | 1 << 32]
    let count = bytes.count
    bytes.withUnsafeMutableBytes { data in
        var vector = iovec(iov_base: data.baseAddress, iov_len: count)
        control.withUnsafeMutableBytes { control in
            withUnsafeMutablePointer(to: &vector) { vector in
                var message = msghdr()
                message.msg_iov = vector
                message.msg_iovlen = 1
                message.msg_control = control.baseAddress
                message.msg_controllen = 24
                let sent = sendmsg(socket, &message, 0)
                precondition(sent == count, "The descriptors could not be sent.")
            }
        }
    }
}
