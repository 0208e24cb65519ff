import UVRunLoop

/// Chooses one directory for a user's names.
///
/// Several processes may do so at once, in a parent directory where other users may create any name
/// that they can guess.
///
/// A process that finds no chosen directory makes a candidate with an unguessable name. A process
/// that has locked all candidates, and then sees no other candidate and no choice, renames the
/// first one: to the plain name, or if another user has taken that, to one with random digits. Only
/// one process can get there. If a process does not know of another's candidate, it listed the
/// candidates before that one was made, while holding a lock that the other needs before its own
/// last check; the other then finds the choice made.
struct DirectoryChoice {
    private static let digitCount = 8
    private static let candidateSuffix = ".new"
    private static let lockName = "/choice.lock"
    /// The most attempts, a millisecond apart, while other processes choose.
    private static let maximumAttempts = 2_000
    /// The most attempts to remove superfluous candidates.
    private static let maximumCleanupAttempts = 100

    /// Excludes other threads of this process, which record locks on files do not.
    private static let processLock = GuardedPerProcess<Void> { () }

    private let parent: String
    private let user: UInt32
    private let name: String

    init(_ surroundings: PortDirectory.Surroundings) {
        parent = surroundings.temporaryDirectory
        user = surroundings.user
        name = "uvrunloop-\(user)"
    }

    private var plainPath: String { "\(parent)/\(name)" }

    /// The chosen directory; `nil` if there is none.
    ///
    /// - Throws: ``UVRunLoop/MessagePortError/Code/directoryNotTrusted`` if something else of the
    ///   user's has its name.
    func chosen() throws(MessagePortError) -> PortDirectory? {
        if let status = try ownStatus(of: plainPath) {
            return try PortDirectory(plainPath, status)
        }
        let paths = names(withSuffix: "") ?? []
        for path in paths {
            if let status = try ownStatus(of: path) { return try PortDirectory(path, status) }
        }
        return nil
    }

    /// Returns the chosen directory, choosing one if needed.
    func make() throws(MessagePortError) -> PortDirectory {
        try Self.processLock.withLock { _ throws(MessagePortError) in
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

    /// Without read permission on the parent, candidates cannot be listed: only the plain name is
    /// used.
    private func makeWithoutCandidates() throws(MessagePortError) {
        let path = plainPath
        let isMade = try translating { () throws(UVError) in
            try Files.makePrivateDirectory(path)
        }
        if !isMade, try ownStatus(of: path) == nil { throw .directoryNotTrusted(path) }
    }

    private func makeCandidate() throws(MessagePortError) {
        let path = plainPath + Self.randomDigits + Self.candidateSuffix
        do throws(UVError) {
            _ = try Files.makePrivateDirectory(path)
        } catch .noSuchFile {
            // Another process has already chosen this candidate.
        } catch {
            throw MessagePortError(error)
        }
    }

    /// Chooses the first candidate, if all can be locked.
    ///
    /// - Returns: `false` if another process holds a lock.
    private func choose(_ candidates: [String]) throws(MessagePortError) -> Bool {
        guard let locks = try lock(candidates) else { return false }
        if try chosen() == nil, try self.candidates() == candidates {
            try promote(candidates[0])
            for path in candidates.dropFirst() { discard(path) }
        }
        withExtendedLifetime(locks) {}
        return true
    }

    /// Locks candidates in order; `nil` if one is locked already or is gone.
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
            // Something of another user's has the plain name.
            path += Self.randomDigits
            let path = path
            try translating { () throws(UVError) in try Files.rename(candidate, to: path) }
        }
        try? Files.remove(path + Self.lockName)
    }

    /// Removes candidates of processes that lost the race.
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

    // MARK: Lookup

    /// The user's candidates, sorted; `nil` if the parent cannot be read.
    private func candidates() throws(MessagePortError) -> [String]? {
        guard let paths = names(withSuffix: Self.candidateSuffix) else { return nil }
        var candidates: [String] = []
        for path in paths where try ownStatus(of: path) != nil { candidates.append(path) }
        return candidates
    }

    /// The status of a path, if the user owns it.
    private func ownStatus(of path: String) throws(MessagePortError) -> FileStatus? {
        let status = try translating { () throws(UVError) in try FileStatus(ofPath: path) }
        return status.flatMap { $0.owner == user ? $0 : nil }
    }

    /// The sorted paths of the plain name followed by digits and a suffix; `nil` if the parent
    /// cannot be read.
    private func names(withSuffix suffix: String) -> [String]? {
        let prefix = name + "-"
        let length = prefix.utf8.count + Self.digitCount + suffix.utf8.count
        let names = Files.names(in: parent) {
            $0.utf8.count == length && $0.hasPrefix(prefix) && $0.hasSuffix(suffix)
        }
        return names?.sorted().map { "\(parent)/\($0)" }
    }

    private static var randomDigits: String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(generator.next() as UInt32, radix: 16)
        return "-" + String(repeating: "0", count: digitCount - digits.count) + digits
    }
}

/// A file lock, boxed to be an array element.
private final class LockReference: Sendable {
    private let file: LockFile

    init?(_ outcome: consuming LockFile.Outcome) {
        guard case .locked(let file) = consume outcome else { return nil }
        self.file = file
    }
}
