import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The location of names: processes of a user find each other, whatever their environment.
///
/// Each test has its own process, and forks processes that differ.
@Suite(.timeLimit(.minutes(15))) struct PortPlaceTests {
    @Test func processesOfDifferentEnvironmentsShareNames() async {
        await #expect(processExitsWith: .success) {
            let name = "uvrunloop-test-\(getpid())"
            let places = [Place(), Place()]
            let owner = LiveOwner(of: name) { setenv("XDG_RUNTIME_DIR", places[0].path, 1) }
            let ways: [() -> Void] = [
                { setenv("XDG_RUNTIME_DIR", places[1].path, 1) }, { unsetenv("XDG_RUNTIME_DIR") },
                { setenv("TMPDIR", places[1].path, 1) }, { setenv("HOME", places[1].path, 1) },
            ]
            for way in ways {
                let status = inChild {
                    way()
                    return findOwner(of: name)
                }
                #expect(status == 0)
            }
            owner.end()
        }
    }

    @Test(arguments: [0o777, 0o177, 0o700, 0o077, 0o000])
    func anUnusualUmaskAtFirstUseKeepsNobodyOut(mask: mode_t) async {
        await #expect(processExitsWith: .success) { [mask] in
            let name = "uvrunloop-test-\(getpid())"
            let user = freeUser()
            let owner = LiveOwner(of: name) {
                become(user)
                umask(mask)
            }
            let status = inChild {
                become(user)
                return findOwner(of: name)
            }
            #expect(status == 0)
            owner.end()
            removePlaces(of: user)
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func aNameOfOneUserIsFreeForAnother() async {
        await #expect(processExitsWith: .success) {
            let name = "uvrunloop-test-\(getpid())"
            let (user, other) = (freeUser(), freeUser() + 1_000_000)
            let owner = LiveOwner(of: name) { become(user) }
            let status = inChild {
                become(other)
                guard isFree(name) else { return 10 }
                let own = LiveOwner(of: name) {}
                defer { own.end() }
                return findOwner(of: name)
            }
            #expect(status == 0)
            let ownersOwn = inChild {
                become(user)
                return findOwner(of: name)
            }
            #expect(ownersOwn == 0)
            owner.end()
            for each in [user, other] { removePlaces(of: each) }
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func anotherUserWhoMakesTheDirectoryFirstBlocksNobody() async {
        await #expect(processExitsWith: .success) {
            let name = "uvrunloop-test-\(getpid())"
            let user = freeUser()
            let path = "/tmp/uvrunloop-\(user)"
            let ways: [() -> Void] = [
                { mkdir(path, 0o700) }, { mkdir(path, 0o777) }, { symlink("/tmp", path) },
                { close(open(path, O_CREAT | O_RDWR, 0o666)) },
            ]
            for way in ways {
                let attacker = inChild {
                    become(65_534)
                    way()
                    return 0
                }
                #expect(attacker == 0)
                let owner = LiveOwner(of: name) { become(user) }
                let status = inChild {
                    become(user)
                    return findOwner(of: name)
                }
                #expect(status == 0)
                // The other user removes the plain name again: the owner is still found.
                if unlink(path) != 0 { rmdir(path) }
                let later = inChild {
                    become(user)
                    return findOwner(of: name)
                }
                #expect(later == 0)
                owner.end()
                removePlaces(of: user)
            }
        }
    }
}

/// A process that owns a name until it is killed.
private struct LiveOwner {
    let process: pid_t

    init(of name: String, _ prepare: () -> Void) {
        let told = Pipe()
        process = startChild {
            prepare()
            do {
                let port = try UVRunLoop.MessagePort.local(
                    named: name,
                    sendableHandler: { _, message in message.data }
                )
                UVRunLoop.current.add(port, forMode: .default)
                told.write("x")
                UVRunLoop.current.run()
                return 0
            } catch {
                print("The owner has no port: \(error)")
                return 1
            }
        }
        // EOF also occurs when the process ends.
        told.closeWriteEnd()
        told.readWaiting()
    }

    func end() {
        kill(process, SIGKILL)
        _ = awaitEnd(of: process)
    }
}

/// 0 if the name is served and this process cannot claim it.
private func findOwner(of name: String) -> CInt {
    do {
        let remote = try UVRunLoop.MessagePort.remote(named: name)
        guard try remote.send(data: [7], replyMode: .connectionReply) == [7] else { return 1 }
    } catch {
        print("The owner is not found: \(error)")
        return 2
    }
    do {
        let port = try UVRunLoop.MessagePort.local(named: name, sendableHandler: { _, _ in nil })
        return port.isValid ? 3 : 4
    } catch {
        return error == .nameTaken ? 0 : 5
    }
}

/// Whether the process's user has no port with the name.
private func isFree(_ name: String) -> Bool {
    do {
        _ = try UVRunLoop.MessagePort.remote(named: name)
        return false
    } catch {
        return error == .noSuchPort
    }
}

/// An unused user id for root, else this process's own.
private func freeUser() -> uid_t {
    geteuid() == 0 ? 2_000_000 + uid_t(getpid()) : geteuid()
}

/// Removes files that a user's processes left.
private func removePlaces(of user: uid_t) {
    guard geteuid() == 0 else { return }
    for name in TemporaryFolder.entries(of: "/tmp") where name.hasPrefix("uvrunloop-\(user)") {
        TemporaryFolder.remove("/tmp/" + name)
    }
}
