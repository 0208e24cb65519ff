import Synchronization
import UVRunLoop

/// Clears away what killed processes left of their ports without names.
///
/// A name that a program gave is taken over by whoever wants it next. A name that nobody guesses
/// nobody wants again, so its files would stay for as long as the directory does.
///
/// Whoever makes a port has to wait for it, so a sweep goes only so far, however much there is.
enum ReplySweep {
    /// How many of the directory's files a sweep looks at.
    static let maximumFiles = 4_096
    /// How many names a sweep tries to take.
    static let maximumNames = 32

    /// A directory that this process has swept, or is to sweep once more.
    private final class Visit: Sendable {
        let directory: FileIdentity
        let isDone = Atomic<Bool>(false)
        let next = AtomicLazyReference<Visit>()

        init(_ directory: FileIdentity) { self.directory = directory }
    }

    /// The visits of this process; as a rule it has one directory.
    private final class Visits: Sendable {
        private let first = AtomicLazyReference<Visit>()

        subscript(directory: FileIdentity) -> Visit {
            var visit = first.load() ?? first.storeIfNil(Visit(directory))
            while visit.directory != directory {
                visit = visit.next.load() ?? visit.next.storeIfNil(Visit(directory))
            }
            return visit
        }
    }

    private static let visits = PerProcess { Visits() }

    /// Sweeps a directory, if this is the process's first time.
    ///
    /// Where a sweep found much to remove there is likely more, and so the next call is another
    /// one. It takes no lock.
    static func sweepOnce(_ directory: PortDirectory) {
        let visit = visits.current[directory.identity]
        guard !visit.isDone.exchange(true, ordering: .relaxed) else { return }
        if sweep(directory) >= maximumNames / 2 { visit.isDone.store(false, ordering: .relaxed) }
    }

    /// Removes what dead owners left; answers of how many names.
    static func sweep(_ directory: PortDirectory) -> Int {
        let files = Files.names(in: directory.path, atMost: maximumFiles) ?? []
        let names = Set(files.compactMap { PortName(ofReplyFile: $0) })
        // A set has another order in each process, so that what can be removed does not
        // stay behind the same names that cannot.
        return names.prefix(maximumNames).count { clearAway($0, directory) }
    }

    private static func clearAway(_ name: PortName, _ directory: PortDirectory) -> Bool {
        do {
            // Not to be had: somebody's, this process's own, or none of ours at all.
            let claim = try NameClaim(directory.files(of: name))
            try claim.clearAway()
            return true
        } catch {
            return false
        }
    }
}
