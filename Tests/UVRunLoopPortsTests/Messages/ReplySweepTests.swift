import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The removal of files that killed processes leave of their unnamed ports.
///
/// Tests that fork run in their own process, so that children of other tests do not inherit their
/// pipes.
@Suite(.timeLimit(.minutes(15))) struct ReplySweepTests {
    @Test func filesOfUnnamedPortsOfAKilledProcessGoWithTheNextUnnamedPort() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            #expect(awaitEnd(of: startMakerThatIsKilled(place, count: 3)) == -SIGKILL)
            #expect(place.entries.count == 8)
            // A process that was killed before it listened.
            let unfinished = try portFiles(in: place, .unguessable())
            makeFile(unfinished.lock)
            makeSocket(unfinished.socket)

            let port = try place.unnamed()
            let own = ["\(port.name).lock", "\(port.name).port"]
            #expect(place.entries == ["named.lock", "named.port"] + own)
            port.invalidate()
        }
    }

    @Test func portsOfLiveProcessesStay() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let other = try LiveMaker(place)
            let port = try place.unnamed()
            #expect(place.entries.count == 4)
            // Neither port's name can be claimed: both locks are held.
            #expect(inChild { isHeld(other.name, place) && isHeld(port.name, place) ? 0 : 1 } == 0)
            #expect(try place.remote(other.name).peer.process == other.process)
            // The lock file may be missing, as after a cleanup by age.
            unlink(place.namesPath + "/\(other.name).lock")
            #expect(ReplySweep.sweep(try place.directory()) == 0)
            #expect(try place.remote(other.name).peer.process == other.process)
            other.end()
        }
    }

    @Test func ownPortsStayAndKeepTheirLocks() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let ports = try (0..<3).map { _ in try place.unnamed() }
            let before = place.entries
            #expect(ReplySweep.sweep(try place.directory()) == 0)
            #expect(place.entries == before)
            // Closing any descriptor of the file would release the process's lock.
            for port in ports {
                #expect(inChild { isHeld(port.name, place) ? 0 : 1 } == 0)
            }
        }
    }

    @Test func aSweepLeavesNothingOpen() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let status = inChild {
                let before = openDescriptors()
                guard let directory = try? place.directory(),
                    let files = try? directory.files(of: .unguessable())
                else { return 1 }
                makeFile(files.lock)
                makeSocket(files.socket)
                guard ReplySweep.sweep(directory) == 1 else { return 2 }
                return openDescriptors() == before ? 0 : 3
            }
            #expect(status == 0)
            #expect(place.entries == [])
        }
    }

    @Test func whatOnlyResemblesAReplyPortIsLeftAlone() throws {
        let place = Place()
        let directory = try place.directory()
        let ways: [(String) -> Void] = [
            { symlink("/nowhere", $0) }, { mkdir($0, 0o700) }, { mkfifo($0, 0o600) },
        ]
        for way in ways {
            let paths = [\PortFiles.socket, \.lock]
            for path in paths { way(try portFiles(in: place, .unguessable())[keyPath: path]) }
        }
        makeFile(try portFiles(in: place, .unguessable()).socket)
        let stem = PortName.unguessable().stem
        for name in ["\(stem)0.lock", "\(stem.dropLast()).lock", "\(stem).txt", "reply-me.lock"] {
            makeFile("\(directory.path)/\(name)")
        }
        let before = place.entries
        #expect(before.count == 11)
        #expect(ReplySweep.sweep(directory) == 0)
        #expect(place.entries == before)
        try place.unnamed().invalidate()
        #expect(place.entries == before)
    }

    @Test func onlySoMuchIsClearedAtATimeUntilLittleIsLeft() async {
        // In a process that has not swept another directory with the same inode number.
        await #expect(processExitsWith: .success) {
            let place = Place()
            let most = ReplySweep.maximumNames
            let count = most * 2 + most / 4
            for _ in 0..<count { makeFile(try portFiles(in: place, .unguessable()).lock) }
            var left: [Int] = []
            for _ in 0..<4 {
                try place.unnamed().invalidate()
                left.append(place.entries.count)
            }
            #expect(left == [count - most, count - 2 * most, 0, 0])
            // The directory is clean: no further sweep is made.
            makeFile(try portFiles(in: place, .unguessable()).lock)
            try place.unnamed().invalidate()
            #expect(place.entries.count == 1)
        }
    }

    @Test func aForkedChildSweepsAnew() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let port = try place.unnamed()
            makeFile(try portFiles(in: place, .unguessable()).lock)
            let status = inChild {
                guard let own = try? place.unnamed() else { return 1 }
                own.invalidate()
                return place.entries.count == 2 ? 0 : 2
            }
            #expect(status == 0)
            #expect(place.entries == ["\(port.name).lock", "\(port.name).port"])
        }
    }

    @Test func aPortWhoseNameASweepHasForAMomentGetsAnother() throws {
        let place = Place()
        let (taken, free) = (PortName.unguessable(), PortName.unguessable())
        let sweeper = try NameClaim(portFiles(in: place, taken))
        var names = [free, taken]
        let port = try place.unnamed { names.removeLast() }
        #expect(port.name == free.text)
        // The number of attempts is limited.
        #expect(throws: MessagePortError.nameTaken) { try place.unnamed { taken } }
        sweeper.release()
    }

    @Test func sweepersAndMakersDoNotGetInEachOthersWay() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let go = Pipe()
            let makers = (0..<4).map { number in
                startChild {
                    go.awaitEnd()
                    return makeManyPorts(in: place, isKilled: number == 0)
                }
            }
            let sweepers = (0..<3).map { _ in
                startChild {
                    go.awaitEnd()
                    guard let directory = try? place.directory() else { return 1 }
                    while true { _ = ReplySweep.sweep(directory) }
                }
            }
            go.closeWriteEnd()
            let statuses = makers.map { awaitEnd(of: $0) }
            #expect(statuses == [-SIGKILL, 0, 0, 0], "The makers ended with \(statuses).")
            // The processes are killed at any point of a sweep.
            for sweeper in sweepers { kill(sweeper, SIGKILL) }
            let ends = sweepers.map { awaitEnd(of: $0) }
            #expect(ends.allSatisfy { $0 == -SIGKILL }, "The sweepers ended with \(ends).")
            _ = ReplySweep.sweep(try place.directory())
            let left = place.entries
            #expect(left == [], "\(left) is left.")
        }
    }

    @Test(arguments: [
        ("reply-0123456789abcdef0123456789abcdef.lock", true),
        ("reply-0123456789abcdef0123456789abcdef.port", true),
        ("reply-0123456789abcdef0123456789abcdef.made", false),
        ("reply-0123456789ABCDEF0123456789ABCDEF.lock", false),
        ("reply-0123456789abcdef0123456789abcde.lock", false),
        ("reply-0123456789abcdef0123456789abcdef0.lock", false),
        ("reply-0123456789abcdef0123456789abcdef", false),
        ("reply-0123456789abcdef0123456789abcdef.lock.lock", false),
        ("replyx0123456789abcdef0123456789abcdef.lock", false),
        ("reply-0123456789abcdef0123456789abcdeg.lock", false),
        ("reply-.lock", false), ("", false), (".", false), ("..", false), (".lock", false),
    ])
    func aFileOfAnUnguessableNameIsKnownByItsName(file: String, isOne: Bool) {
        let name = PortName(ofReplyFile: file)
        #expect(name?.text == (isOne ? "reply-0123456789abcdef0123456789abcdef" : nil))
        #expect(PortName(ofReplyFile: PortName.unguessable().stem + ".port") != nil)
    }
}

extension Place {
    /// An unnamed port.
    fileprivate func unnamed(
        name: () -> PortName = PortName.unguessable
    ) throws -> Local {
        try Local.unnamed(
            in: directory(),
            order: 0,
            limits: .init(),
            acceptPeer: nil,
            handler: HomeBound(sendable: { _, _ in nil }),
            name: name
        )
    }
}

/// A process that owns an unnamed port until it is killed.
private struct LiveMaker {
    let process: pid_t
    let name: String

    init(_ place: Place) throws {
        let told = Pipe()
        process = startChild {
            guard let port = try? place.unnamed() else { return 1 }
            told.write(port.name)
            Glibc.pause()
            return port.isValid ? 0 : 2
        }
        name = told.readWaiting()
    }

    func end() {
        kill(process, SIGKILL)
        _ = awaitEnd(of: process)
    }
}

/// A process that makes unnamed ports and a named one, and is killed.
private func startMakerThatIsKilled(_ place: Place, count: Int) -> pid_t {
    startChild {
        guard let named = try? place.local("named", { _, _ in nil }) else { return 1 }
        let ports = (0..<count).compactMap { _ in try? place.unnamed() }
        guard ports.count == count, named.isValid else { return 2 }
        // Killed while it has its ports, which an optimiser would release earlier.
        return withExtendedLifetime((named, ports)) { kill(getpid(), SIGKILL) }
    }
}

/// Makes ports, each of which has to be reachable until it is released; 0 if all were.
private func makeManyPorts(in place: Place, isKilled: Bool) -> CInt {
    for number in 0..<300 {
        do {
            let port = try place.unnamed()
            if isKilled, number == 50 { kill(getpid(), SIGKILL) }
            let remote = try place.remote(port.name)
            guard remote.isValid, remote.peer.process == getpid() else { return 1 }
            remote.invalidate()
            port.invalidate()
        } catch {
            return 2
        }
    }
    return 0
}

/// Whether the name cannot be claimed.
private func isHeld(_ name: String, _ place: Place) -> Bool {
    do {
        _ = try NameClaim(portFiles(in: place, PortName(name)))
        return false
    } catch {
        return error as? MessagePortError == .nameTaken
    }
}

private func portFiles(in place: Place, _ name: PortName) throws -> PortFiles {
    try place.directory().files(of: name)
}

private func makeFile(_ path: String) { close(open(path, O_CREAT | O_RDWR, 0o600)) }

/// Makes a socket without a listener.
private func makeSocket(_ path: String) {
    guard let address = RawAddress(unixPath: path) else { return }
    let socket = try? Stream.unixSocket()
    try? socket?.bind(to: address)
}
