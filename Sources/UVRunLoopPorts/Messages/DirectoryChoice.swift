import UVRunLoop

/// The choice of one directory for a user's names, among processes that may be at it at the same
/// time, in a directory where others may take any name that they can guess.
///
/// Whoever finds none chosen makes a candidate under an unguessable name. Whoever has locked all
/// candidates, and then sees that there are no further ones and that nothing is chosen, renames the
/// first one: to the plain name, or where somebody else has that, to one with digits. Two cannot do
/// so: whoever does not know the other's candidate has looked before it was made, holding a lock
/// that the other needs before its last look, and then finds the choice made.
struct DirectoryChoice {
    private static let digitCount = 8
    private static let unchosenEnding = ".new"
    private static let lockName = "/choice.lock"
    /// How often to try, a millisecond apart, while other processes are at it.
    private static let maximumAttempts = 2_000
    /// The same for what would only be left behind.
    private static let maximumCleanupAttempts = 100

    /// Keeps threads from each other, which the locks on files do not.
    private final class ProcessLock: Sendable {
        let lock = Guarded(())
    }

    private static let processLock = PerProcess { ProcessLock() }

    private let parent: String
    private let user: UInt32
    private let name: String

    init(_ surroundings: PortDirectory.Surroundings) {
        parent = surroundings.temporaryDirectory
        user = surroundings.user
        name = "uvrunloop-\(user)"
    }

    private var plainPath: String { "\(parent)/\(name)" }

    /// The directory that was chosen; `nil` while there is none.
    ///
    /// - Throws: ``UVRunLoop/MessagePortError/directoryNotTrusted(_:)`` when something of the
    ///   user's own is in its place that cannot be it.
    func chosen() throws(MessagePortError) -> PortDirectory? {
        if let status = try ownStatus(of: plainPath) {
            return try PortDirectory(plainPath, status)
        }
        let paths = names(withEnding: "") ?? []
        for path in paths {
            if let status = try ownStatus(of: path) { return try PortDirectory(path, status) }
        }
        return nil
    }

    /// Has a directory chosen.
    func make() throws(MessagePortError) -> PortDirectory {
        try Self.processLock.current.lock.withLock { _ throws(MessagePortError) in
            var madeCandidate = false
            for _ in 0..<Self.maximumAttempts {
                if let chosen = try chosen() {
                    if madeCandidate { try clearAwayCandidates() }
                    return chosen
                }
                guard let candidates = try candidates() else {
                    try makeWithoutCandidates()
                    continue
                }
                if candidates.isEmpty {
                    try makeCandidate()
                    madeCandidate = true
                } else if try !choose(candidates) {
                    pause(milliseconds: 1)
                }
            }
            throw .transport(.timedOut)
        }
    }

    /// In a directory that cannot be read nobody finds a candidate: there is the plain name only.
    private func makeWithoutCandidates() throws(MessagePortError) {
        let path = plainPath
        let isMade = try translating { () throws(UVError) in
            try Files.makePrivateDirectory(path)
        }
        if !isMade, try ownStatus(of: path) == nil { throw .directoryNotTrusted(path) }
    }

    private func makeCandidate() throws(MessagePortError) {
        let path = plainPath + Self.randomDigits + Self.unchosenEnding
        do throws(UVError) {
            _ = try Files.makePrivateDirectory(path)
        } catch .noSuchFile {
            // Made, and chosen by somebody else already.
        } catch {
            throw MessagePortError(error)
        }
    }

    /// Chooses the first of all candidates.
    ///
    /// - Returns: `false` when somebody else is at it.
    private func choose(_ candidates: [String]) throws(MessagePortError) -> Bool {
        guard let locks = try lock(candidates) else { return false }
        if try chosen() == nil, try self.candidates() == candidates {
            try promote(candidates[0])
            for path in candidates.dropFirst() { discard(path) }
        }
        withExtendedLifetime(locks) {}
        return true
    }

    /// Locks candidates, in their order; `nil` when one is locked already, or is gone.
    private func lock(_ candidates: [String]) throws(MessagePortError) -> [LockReference]? {
        var locks: [LockReference] = []
        for path in candidates {
            do throws(UVError) {
                try Files.setPermissions(of: path, to: 0o700)
                guard let lock = LockReference(try LockFile.lock(path + Self.lockName)) else {
                    return nil
                }
                locks.append(lock)
            } catch UVError.noSuchFile {
                return nil
            } catch {
                throw MessagePortError(error)
            }
        }
        return locks
    }

    private func promote(_ candidate: String) throws(MessagePortError) {
        var path = plainPath
        do throws(UVError) {
            try Files.rename(candidate, to: path)
        } catch {
            // Something of another user's has the name.
            path += Self.randomDigits
            let path = path
            try translating { () throws(UVError) in try Files.rename(candidate, to: path) }
        }
        try? Files.remove(path + Self.lockName)
    }

    /// Removes the candidates that nobody needs any more: those of processes that were too late.
    private func clearAwayCandidates() throws(MessagePortError) {
        for _ in 0..<Self.maximumCleanupAttempts {
            guard let candidates = try candidates(), !candidates.isEmpty else { return }
            if let locks = try lock(candidates) {
                candidates.forEach(discard)
                withExtendedLifetime(locks) {}
            }
            pause(milliseconds: 1)
        }
    }

    private func discard(_ candidate: String) {
        try? Files.remove(candidate + Self.lockName)
        try? Files.removeDirectory(candidate)
    }

    // MARK: What is there

    /// The user's candidates, sorted; `nil` where the directory cannot be read.
    private func candidates() throws(MessagePortError) -> [String]? {
        guard let paths = names(withEnding: Self.unchosenEnding) else { return nil }
        var candidates: [String] = []
        for path in paths where try ownStatus(of: path) != nil { candidates.append(path) }
        return candidates
    }

    /// What is under a path, if it is the user's.
    private func ownStatus(of path: String) throws(MessagePortError) -> FileStatus? {
        let status = try translating { () throws(UVError) in try FileStatus(ofPath: path) }
        return status.flatMap { $0.owner == user ? $0 : nil }
    }

    /// The paths of the plain name with digits and an ending, sorted; `nil` where the directory
    /// cannot be read.
    private func names(withEnding ending: String) -> [String]? {
        let prefix = name + "-"
        let length = prefix.utf8.count + Self.digitCount + ending.utf8.count
        let names = Files.names(in: parent) {
            $0.utf8.count == length && $0.hasPrefix(prefix) && $0.hasSuffix(ending)
        }
        return names?.sorted().map { "\(parent)/\($0)" }
    }

    private static var randomDigits: String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(generator.next() as UInt32, radix: 16)
        return "-" + String(repeating: "0", count: digitCount - digits.count) + digits
    }
}

/// A lock on a file, in an array.
private final class LockReference: Sendable {
    private let file: LockFile

    init?(_ outcome: consuming LockFile.Outcome) {
        guard case .locked(let file) = consume outcome else { return nil }
        self.file = file
    }
}
