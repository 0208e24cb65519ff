import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Names, and the directory of their files.
@Suite(.timeLimit(.minutes(15))) struct PortNameTests {
    @Test(arguments: [
        ("com.example.Main-1_x", "com.example.Main-1_x"), ("a/b", "a%2Fb"), ("a%2Fb", "a%252Fb"),
        ("..", ".."), ("ä b", "%C3%A4%20b"), ("\n", "%0A"),
    ])
    func aNameBecomesAFileName(name: String, stem: String) throws {
        #expect(try PortName(name).stem == stem)
    }

    @Test func namesOfDifferentBytesDiffer() throws {
        // As strings the two are equal.
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed)
        #expect(try PortName(composed) != PortName(decomposed))
    }

    @Test(arguments: ["", "a\0b", "\0"])
    func aNameThatIsEmptyOrHoldsAZeroIsRefused(name: String) {
        #expect(throws: MessagePortError.invalidName) { try PortName(name) }
    }

    @Test func anOverlongNameIsRefusedAndNeverCut() throws {
        let place = Place()
        let directory = try place.directory()
        let room = 107 - directory.path.utf8.count - 1 - ".port".utf8.count
        let longest = String(repeating: "n", count: room)
        #expect(try directory.files(of: PortName(longest)).socket.utf8.count == 107)
        #expect(throws: MessagePortError.nameTooLong) {
            try directory.files(of: PortName(longest + "n"))
        }
    }

    @Test func unguessableNamesDiffer() {
        let names = Set((0..<100).map { _ in PortName.unguessable().stem })
        #expect(names.count == 100)
        #expect(names.allSatisfy { $0.utf8.count == 38 })
    }

    // MARK: The directory

    @Test func theDirectoryIsTheUsersAlone() throws {
        let place = Place()
        let directory = try place.directory()
        #expect(directory.path == place.namesPath)
        #expect(try FileStatus(ofPath: directory.path)?.permissions == 0o700)
        #expect(try place.directory() == directory)
        // No temporary files are left.
        #expect(TemporaryFolder.entries(of: place.path) == ["uvrunloop-\(geteuid())"])
        #expect(place.entries == [])
    }

    @Test func aDirectoryOfNamesThatIsNotTheUsersAloneIsRefused() throws {
        let place = Place()
        let path = place.namesPath
        let other = Place()
        let ways: [(String) -> Void] = [
            { symlink(other.path, $0) }, { close(open($0, O_CREAT | O_RDWR, 0o600)) },
            { mkfifo($0, 0o700) },
            {
                mkdir($0, 0o700); chmod($0, 0o750)
            },
            {
                mkdir($0, 0o700); chmod($0, 0o701)
            },
        ]
        for way in ways {
            way(path)
            #expect(throws: MessagePortError.directoryNotTrusted(path)) { try place.directory() }
            if unlink(path) != 0 { rmdir(path) }
        }
        #expect(TemporaryFolder.entries(of: other.path).isEmpty)
    }

    @Test(arguments: [0o000, 0o100, 0o500, 0o600])
    func aDirectoryThatIsNotQuiteOpenToItsUserIsPutRight(mode: mode_t) throws {
        let place = Place()
        mkdir(place.namesPath, 0o700)
        chmod(place.namesPath, mode)
        let directory = try place.directory()
        #expect(try FileStatus(ofPath: directory.path)?.permissions == 0o700)
    }

    @Test func aSharedParentWhereOthersMayRenameIsRefused() throws {
        let place = Place()
        chmod(place.path, 0o777)
        #expect(throws: MessagePortError.directoryNotTrusted(place.path)) { try place.directory() }
        chmod(place.path, 0o1777)
        #expect(try place.directory().path == place.namesPath)
    }

    @Test(.enabled(if: geteuid() != 0))
    func whereTheParentCannotBeReadThePlainNameIsUsed() throws {
        let place = Place()
        chmod(place.path, 0o300)
        let directory = try place.directory()
        chmod(place.path, 0o700)
        #expect(directory.path == place.namesPath)
    }
}
