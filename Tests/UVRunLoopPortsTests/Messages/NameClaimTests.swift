import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The ownership of names.
///
/// Tests that fork run in their own process, so that children of other tests do not inherit their
/// pipes.
@Suite(.timeLimit(.minutes(15))) struct NameClaimTests {
    @Test func aNameHasOneOwnerInAProcess() throws {
        let place = Place()
        let files = try portFiles(in: place)
        let claim = try NameClaim(files)
        #expect(throws: MessagePortError.nameTaken) { try NameClaim(files) }
        claim.release()
        try NameClaim(files).release()
    }

    @Test func aReleasedNameLeavesNothingBehind() throws {
        let place = Place()
        let claim = try NameClaim(portFiles(in: place))
        let socket = try claim.listen(backlog: 1)
        #expect(place.entries == ["name.lock", "name.port"])
        claim.release()
        claim.release()
        #expect(place.entries.isEmpty)
        _ = consume socket
    }

    @Test func aSocketThatCannotListenLeavesNothingBehind() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let claim = try NameClaim(portFiles(in: place))
            refuse(.listen, with: ENOMEM)
            do throws(MessagePortError) {
                _ = try claim.listen(backlog: 1)
                preconditionFailure("The socket listens.")
            } catch {}
            precondition(place.entries == ["name.lock", "name.port"])
            claim.release()
            precondition(place.entries.isEmpty)
        }
    }

    @Test func anotherProcessIsRefusedWhileTheOwnerLives() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let files = try portFiles(in: place)
            let claim = try NameClaim(files)
            let socket = try claim.listen(backlog: 1)
            let status = inChild { claimAnew(files) }
            #expect(status == 1)
            claim.release()
            #expect(inChild { claimAnew(files) } == 0)
            _ = consume socket
        }
    }

    @Test func theNameOfAKilledProcessIsTakenOver() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let files = try portFiles(in: place)
            for _ in 0..<20 {
                let child = startChild {
                    guard let claim = try? NameClaim(files),
                        let socket = try? claim.listen(backlog: 1)
                    else { return 1 }
                    kill(getpid(), SIGKILL)
                    return CInt(socket.number)
                }
                #expect(awaitEnd(of: child) == -SIGKILL)
                #expect(place.entries == ["name.lock", "name.port"])
            }
            let claim = try NameClaim(files)
            _ = try claim.listen(backlog: 1)
            claim.release()
            #expect(place.entries.isEmpty)
        }
    }

    @Test func aForkedChildDoesNotHoldItsParentsName() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let files = try portFiles(in: place)
            let end = Pipe()
            // The owner forks a child that goes on, and is killed.
            let owner = startChild {
                guard let claim = try? NameClaim(files), let socket = try? claim.listen(backlog: 1)
                else { return 1 }
                _ = startChild {
                    end.awaitEnd()
                    return CInt(socket.number)
                }
                kill(getpid(), SIGKILL)
                return CInt(claim.files.lock.utf8.count)
            }
            #expect(awaitEnd(of: owner) == -SIGKILL)
            let claim = try NameClaim(files)
            _ = try claim.listen(backlog: 1)
            claim.release()
            end.closeWriteEnd()
        }
    }

    /// The owner is a zombie; its child still has the listener.
    @Test func aZombieWithALiveChildDoesNotHoldItsName() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let files = try portFiles(in: place)
            let end = Pipe()
            let owner = startChild {
                guard let claim = try? NameClaim(files), let socket = try? claim.listen(backlog: 1)
                else { return 1 }
                _ = startChild {
                    end.awaitEnd()
                    return CInt(socket.number)
                }
                kill(getpid(), SIGKILL)
                return CInt(claim.files.lock.utf8.count)
            }
            awaitZombie(owner)
            #expect(throws: MessagePortError.noSuchPort) { try place.remote("name") }
            let claim = try NameClaim(files)
            _ = try claim.listen(backlog: 1)
            claim.release()
            end.closeWriteEnd()
            #expect(awaitEnd(of: owner) == -SIGKILL)
        }
    }

    @Test func anOwnerWhoseLockFileWasRemovedKeepsItsName() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let files = try portFiles(in: place)
            let claim = try NameClaim(files)
            let socket = try claim.listen(backlog: 8)
            unlink(files.lock)
            #expect(inChild { claimAnew(files) } == 1)
            #expect(place.entries.contains("name.port"))
            _ = consume socket
        }
    }

    @Test func whatIsNoSocketOfTheUsersIsLeftAlone() throws {
        let place = Place()
        let target = place.path + "/target"
        close(open(target, O_CREAT | O_RDWR, 0o600))
        let ways: [(String) -> Void] = [
            { symlink(target, $0) }, { mkdir($0, 0o700) }, { mkfifo($0, 0o600) },
            { close(open($0, O_CREAT | O_RDWR, 0o600)) },
            { path in
                let address = RawAddress(unixPath: path)!
                let socket = try? Stream.unixSocket()
                try? socket?.bind(to: address)
                chown(path, 65534, 65534)
            },
        ]
        let files = try portFiles(in: place)
        for path in [files.socket] {
            for (index, way) in ways.enumerated() where index < 4 || geteuid() == 0 {
                way(path)
                let before = try FileStatus(ofPath: path)
                #expect(throws: MessagePortError.fileNotTrusted(path)) {
                    let claim = try NameClaim(files)
                    _ = try claim.listen(backlog: 1)
                }
                #expect(try FileStatus(ofPath: path) == before)
                if unlink(path) != 0 { rmdir(path) }
            }
        }
        #expect(try FileStatus(ofPath: target)?.kind == .regular)
    }

    @Test func aSocketOfTheUsersThatNobodyFinishedGivesWay() throws {
        let place = Place()
        let files = try portFiles(in: place)
        let left = try Stream.unixSocket()
        try left.bind(to: files.address())
        let claim = try NameClaim(files)
        let socket = try claim.listen(backlog: 1)
        #expect(place.entries == ["name.lock", "name.port"])
        _ = consume socket
        _ = consume left
    }

    @Test func aLockFileThatIsSomethingElseIsRefused() throws {
        let place = Place()
        let files = try portFiles(in: place)
        let target = place.path + "/target"
        let ways: [(String) -> Void] = [
            { symlink(target, $0) }, { mkdir($0, 0o700) }, { mkfifo($0, 0o600) },
        ]
        for way in ways {
            way(files.lock)
            #expect(throws: MessagePortError.fileNotTrusted(files.lock)) { try NameClaim(files) }
            if unlink(files.lock) != 0 { rmdir(files.lock) }
        }
        #expect(try FileStatus(ofPath: target) == nil)
    }

    @Test func ofManyContendersForAStaleNameExactlyOneWins() async {
        await #expect(processExitsWith: .success) {
            let place = Place()
            let files = try portFiles(in: place)
            for round in 0..<15 {
                let (go, end) = (Pipe(), Pipe())
                let children = (0..<8).map { _ in
                    startChild {
                        go.awaitEnd()
                        guard let claim = try? NameClaim(files) else { return 1 }
                        guard let socket = try? claim.listen(backlog: 1) else { return 2 }
                        // The winner keeps the name until all have tried, then leaves it stale.
                        end.awaitEnd()
                        kill(getpid(), SIGKILL)
                        return CInt(socket.number)
                    }
                }
                go.closeWriteEnd()
                var left = children
                // The losers exit by themselves; the last process is the winner.
                let statuses = (1..<children.count).map { _ in awaitFirstEnd(of: &left) }
                end.closeWriteEnd()
                #expect(statuses.allSatisfy { $0 == 1 }, "round \(round): \(statuses)")
                #expect(awaitFirstEnd(of: &left) == -SIGKILL)
            }
        }
    }
}

private func portFiles(in place: Place, _ name: String = "name") throws -> PortFiles {
    try place.directory().files(of: PortName(name))
}

/// 0 if the name could be claimed, 1 if it is taken.
private func claimAnew(_ files: PortFiles) -> CInt {
    do throws(MessagePortError) {
        let claim = try NameClaim(files)
        _ = try claim.listen(backlog: 1)
        claim.release()
        return 0
    } catch {
        return error == .nameTaken ? 1 : 2
    }
}
