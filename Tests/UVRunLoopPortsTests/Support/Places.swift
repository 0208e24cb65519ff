import Glibc
import TestSupport

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// A directory of a test's own, removed with all it holds.
final class Place: Sendable {
    private let folder = TemporaryFolder()

    var path: String { folder.path }

    /// The directory of names in this place.
    func directory() throws(MessagePortError) -> PortDirectory {
        try PortDirectory(in: surroundings)
    }

    var surroundings: PortDirectory.Surroundings {
        PortDirectory.Surroundings(temporaryDirectory: path, user: geteuid())
    }

    /// Where the names in this place are.
    var namesPath: String { "\(path)/uvrunloop-\(geteuid())" }

    var entries: [String] { TemporaryFolder.entries(of: namesPath) }
}

/// Makes the process another user's; root's processes alone can, and others stay what they are.
func become(_ user: uid_t) {
    guard geteuid() == 0 else { return }
    precondition(setgid(user) == 0 && setuid(user) == 0, "The process cannot change its user.")
}
