import Glibc
import TestSupport

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// A temporary directory of one test, removed with its contents.
final class Place: Sendable {
    private let folder = TemporaryFolder()

    var path: String { folder.path }

    /// The directory of names in it.
    func directory() throws(MessagePortError) -> PortDirectory {
        try PortDirectory(in: surroundings)
    }

    var surroundings: PortDirectory.Surroundings {
        PortDirectory.Surroundings(temporaryDirectory: path, user: geteuid())
    }

    /// Where the names are stored.
    var namesPath: String { "\(path)/uvrunloop-\(geteuid())" }

    var entries: [String] { TemporaryFolder.entries(of: namesPath) }
}

/// Changes the process's user, which only root may do; without it, nothing changes.
func become(_ user: uid_t) {
    guard geteuid() == 0 else { return }
    precondition(setgid(user) == 0 && setuid(user) == 0, "The process cannot change its user.")
}
