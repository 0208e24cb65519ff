import UVRunLoop

/// Clears away what killed processes left of their ports without names.
///
/// A name that a program gave is taken over by whoever wants it next. A name that nobody guesses
/// nobody wants again, so its files would stay for as long as the directory does.
///
/// Whoever makes a port has to wait for it, so a sweep goes only so far, however much there is.
enum ReplySweep {
    /// How many of the directory's files a sweep looks at.
    static let mostFiles = 4_096
    /// How many names a sweep tries to take.
    static let mostNames = 32

    /// The directories in which this process has nothing more to do.
    private static let swept = Guarded<(owner: CInt, directories: Set<FileIdentity>)>((0, []))

    /// Sweeps a directory, if this is the process's first time.
    ///
    /// Where a sweep found much to remove there is likely more, and so the next call is another
    /// one.
    static func sweepOnce(_ directory: PortDirectory) {
        let isFirst = swept.withLock { swept in
            if swept.owner != Process.id { swept = (Process.id, []) }
            return swept.directories.insert(directory.identity).inserted
        }
        guard isFirst, sweep(directory) >= mostNames / 2 else { return }
        swept.withLock { _ = $0.directories.remove(directory.identity) }
    }

    /// Removes what dead owners left; answers of how many names.
    static func sweep(_ directory: PortDirectory) -> Int {
        let files = Files.names(in: directory.path, atMost: mostFiles)
        let names = Set(files.compactMap { PortName(ofReplyFile: $0) })
        // A set has another order in each process, so that what can be removed does not
        // stay behind the same names that cannot.
        return names.prefix(mostNames).count { clearAway($0, directory) }
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
