import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Processes that choose a directory for names at the same time, with other users who interfere.
@Suite(.timeLimit(.minutes(15))) struct DirectoryChoiceTests {
    @Test func processesThatBeginTogetherChooseOneDirectory() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<10 {
                let place = Place()
                let paths = choicesOfManyProcesses(in: place)
                #expect(Set(paths) == [place.namesPath])
                #expect(TemporaryFolder.entries(of: place.path) == ["uvrunloop-\(geteuid())"])
            }
        }
    }

    /// The other user makes and removes the plain name continually.
    @Test(.enabled(if: geteuid() == 0))
    func processesChooseOneDirectoryWhateverAnotherUserDoesMeanwhile() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<10 {
                let place = SharedPlace()
                let other = startChild {
                    become(65_534)
                    while true {
                        mkdir(place.plainPath, 0o700)
                        sched_yield()
                        rmdir(place.plainPath)
                    }
                }
                let paths = choicesOfManyProcesses(in: place.place, user: place.user)
                #expect(Set(paths).count == 1, "\(paths)")
                kill(other, SIGKILL)
                _ = awaitEnd(of: other)
                // The choice is the same once the plain name is free again.
                if paths.first != place.plainPath { rmdir(place.plainPath) }
                #expect(choicesOfManyProcesses(in: place.place, user: place.user) == paths)
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func whatResemblesAChoiceOfAnotherUsersIsPassedOver() async {
        await #expect(processExitsWith: .success) {
            let place = SharedPlace()
            let endings = ["-00000000", "-00000001.new", ""]
            for ending in endings {
                mkdir(place.plainPath + ending, 0o700)
                chown(place.plainPath + ending, 65_534, 65_534)
            }
            let paths = Set(choicesOfManyProcesses(in: place.place, user: place.user))
            #expect(paths.count == 1)
            let path = paths.first ?? ""
            #expect(path.hasPrefix(place.plainPath + "-"))
            #expect(path.utf8.count == place.plainPath.utf8.count + 9)
            #expect(!endings.contains { path == place.plainPath + $0 })
            for ending in endings { #expect(rmdir(place.plainPath + ending) == 0) }
        }
    }

    @Test func whatAKilledProcessLeftOfItsChoiceIsUsed() throws {
        let place = Place()
        for ending in ["-00000000.new", "-00000001.new"] { mkdir(place.namesPath + ending, 0o700) }
        close(open(place.namesPath + "-00000001.new/choice.lock", O_CREAT | O_RDWR, 0o000))
        chmod(place.namesPath + "-00000000.new", 0)
        #expect(try place.directory().path == place.namesPath)
        #expect(TemporaryFolder.entries(of: place.path) == ["uvrunloop-\(geteuid())"])
        #expect(place.entries == [])
    }
}

/// A directory that several users may write to, as `/tmp` is; root alone can make it.
private struct SharedPlace {
    let place = Place()
    let user: uid_t = 2_000_001

    init() { chmod(place.path, 0o1777) }

    var plainPath: String { "\(place.path)/uvrunloop-\(user)" }
}

/// The directories chosen by processes that start at the same moment.
private func choicesOfManyProcesses(in place: Place, user: uid_t = geteuid()) -> [String] {
    let (go, told) = (Pipe(), Pipe())
    let children = (0..<6).map { _ in
        startChild {
            if user != geteuid() { become(user) }
            go.awaitEnd()
            guard let directory = try? place.directory() else { return 1 }
            told.write(directory.path + "\n")
            return 0
        }
    }
    go.closeWriteEnd()
    for child in children { #expect(awaitEnd(of: child) == 0) }
    return (told.read() ?? "").split(separator: "\n").map(String.init)
}
