import Synchronization
import UVRunLoop

/// Removes files that killed processes left of their unnamed ports.
///
/// A name that a program chose is taken over by its next user. An unguessable name is never used
/// again, so its files would stay as long as the directory.
///
/// A sweep delays the thread that makes a port, so its work is limited.
enum ReplySweep {
    /// The most files that a sweep examines.
    static let maximumFiles = 4_096
    /// The most names that a sweep tries to claim.
    static let maximumNames = 32

    /// A directory that this process has swept, or has to sweep again.
    private final class Visit: Sendable {
        let directory: FileIdentity
        let isDone = Atomic<Bool>(false)
        let next = AtomicLazyReference<Visit>()

        init(_ directory: FileIdentity) { self.directory = directory }
    }

    /// The visits of this process; there is usually one directory.
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

    /// Sweeps a directory on the process's first call.
    ///
    /// If a sweep removed much, there is likely more, so the next call sweeps again. It takes no
    /// lock.
    static func sweepOnce(_ directory: PortDirectory) {
        let visit = visits.current[directory.identity]
        guard !visit.isDone.exchange(true, ordering: .relaxed) else { return }
        if sweep(directory) >= maximumNames / 2 { visit.isDone.store(false, ordering: .relaxed) }
    }

    /// Removes the files of dead owners.
    ///
    /// Returns the number of names removed.
    static func sweep(_ directory: PortDirectory) -> Int {
        let files = Files.names(in: directory.path, atMost: maximumFiles) ?? []
        let names = Set(files.compactMap { PortName(ofReplyFile: $0) })
        // The order of a set differs between processes, so names that cannot be removed do not
        // always come before those that can.
        return names.prefix(maximumNames).count { clearAway($0, directory) }
    }

    private static func clearAway(_ name: PortName, _ directory: PortDirectory) -> Bool {
        do {
            // The name is in use, by another process or this one, or the files are not a port's.
            let files = try directory.files(of: name)
            try PortRegistry.current.whileNobodyMakes(files.key) { () throws(MessagePortError) in
                let claim = try NameClaim(files)
                try claim.clearAway()
            }
            return true
        } catch {
            return false
        }
    }
}
