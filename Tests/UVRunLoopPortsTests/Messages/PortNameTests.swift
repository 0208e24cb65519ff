import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Names, and the directory that they are in.
@Suite(.timeLimit(.minutes(5))) struct PortNameTests {
    @Test(arguments: [
        ("com.example.Main-1_x", "com.example.Main-1_x"), ("a/b", "a%2Fb"), ("a%2Fb", "a%252Fb"),
        ("..", ".."), ("ä b", "%C3%A4%20b"), ("\n", "%0A"),
    ])
    func aNameBecomesAFileName(name: String, stem: String) throws {
        #expect(try PortName(name).stem == stem)
    }

    @Test func namesOfDifferentBytesDiffer() throws {
        // As strings these two are equal.
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

    @Test func theRuntimeDirectoryIsUsedWhereItCanBeTrusted() throws {
        let place = Place()
        let directory = try place.directory()
        #expect(directory.path == place.path + "/uvrunloop")
        #expect(try FileStatus(ofPath: directory.path)?.permissions == 0o700)
        #expect(try place.directory() == directory)
    }

    @Test(arguments: ["relative/path", "", "/nowhere/at/all"])
    func aRuntimeDirectoryThatCannotBeTrustedIsPassedOver(path: String) throws {
        let place = Place()
        var surroundings = place.surroundings
        surroundings.runtimeDirectory = path
        surroundings.temporaryDirectory = place.path
        let directory = try PortDirectory(in: surroundings)
        #expect(directory.path == "\(place.path)/uvrunloop-\(geteuid())")
    }

    @Test func aRuntimeDirectoryThatOthersMayEnterOrThatIsALinkIsPassedOver() throws {
        let (place, other) = (Place(), Place())
        var surroundings = place.surroundings
        surroundings.temporaryDirectory = place.path
        let link = place.path + "/link"
        symlink(other.path, link)
        for path in [link, link + "/", link + "//"] {
            surroundings.runtimeDirectory = path
            #expect(try PortDirectory(in: surroundings).path.hasPrefix(place.path))
        }
        chmod(other.path, 0o755)
        surroundings.runtimeDirectory = other.path
        #expect(try PortDirectory(in: surroundings).path.hasPrefix(place.path))
        #expect(Place.entries(of: other.path).isEmpty)
    }

    @Test func aPrivilegedProcessIgnoresItsEnvironment() throws {
        let (place, other) = (Place(), Place())
        var surroundings = place.surroundings
        surroundings.temporaryDirectory = other.path
        surroundings.isPrivileged = true
        #expect(try PortDirectory(in: surroundings).path.hasPrefix(other.path))
    }

    @Test func aDirectoryOfNamesThatIsNotTheUsersAloneIsRefused() throws {
        let place = Place()
        let path = place.path + "/uvrunloop"
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
            {
                mkdir($0, 0o700); chown($0, 65534, 65534)
            },
        ]
        for (index, way) in ways.enumerated() where index < 5 || geteuid() == 0 {
            way(path)
            #expect(throws: MessagePortError.directoryNotTrusted(path)) { try place.directory() }
            if unlink(path) != 0 { rmdir(path) }
        }
        #expect(Place.entries(of: other.path).isEmpty)
    }

    @Test func aSharedParentWhereOthersMayRenameIsRefused() throws {
        let place = Place()
        var surroundings = place.surroundings
        surroundings.runtimeDirectory = nil
        surroundings.temporaryDirectory = place.path
        chmod(place.path, 0o777)
        #expect(throws: MessagePortError.directoryNotTrusted(place.path)) {
            try PortDirectory(in: surroundings)
        }
        chmod(place.path, 0o1777)
        #expect(try PortDirectory(in: surroundings).path.hasPrefix(place.path))
    }
}
