import Synchronization
import UVRunLoop

/// The names that this process owns, and their ports, so that a name means one object.
///
/// A port is invalid, or its last reference is gone, a little before its name is released. The
/// registry bridges that time:
/// - Names are claimed one at a time: by a thread that holds `making`.
/// - A port's entry has its claim, and stays until that claim is released. So if the entry's port
///   is invalid or freed, the next thread that wants the name calls the claim's `release()`, which
///   releases it or waits until another thread has.
/// - Hence under `making` a name without a valid port is another process's or nobody's.
///
/// A releasing thread does not need `making`, and calls no user code before the name is released.
///
/// It is sharded, so that threads that use different names seldom contend. A forked child starts
/// with an empty registry: the inherited names are its parent's.
final class PortRegistry: Sendable {
    typealias Local = MessagePort.Local

    /// The latest port with a name.
    private struct Entry: Sendable {
        let port: Weak<Local>
        let claim: NameClaim
    }

    /// One shard of the names.
    private final class Shard: Sendable {
        /// Held while a port is made, so that two threads get the same port for a name.
        ///
        /// Not a `Lock`, which takes a holder that works with files for seconds for a thread of the
        /// parent that forked.
        let making = Mutex(())
        let claims = Guarded<Set<PortFiles.Key>>([])
        let ports = Guarded<[PortFiles.Key: Entry]>([:])
    }

    private static let ofProcess = PerProcess { PortRegistry() }

    static var current: PortRegistry { ofProcess.current }

    private let shards = (0..<64).map { _ in Shard() }

    private func shard(of key: PortFiles.Key) -> Shard {
        shards[Int(UInt(bitPattern: key.hashValue) % UInt(shards.count))]
    }

    // MARK: Claims

    // The lock on a name's file excludes other processes; this excludes threads.

    /// Runs a body that claims a name of no port, while no other thread makes a port with it.
    func whileNobodyMakes<Result>(
        _ key: PortFiles.Key,
        _ body: () throws(MessagePortError) -> Result
    ) throws(MessagePortError) -> Result {
        try shard(of: key).making.withLock { _ throws(MessagePortError) in try body() }
    }

    /// Claims a name; returns `false` if this process has claimed it already.
    func claim(_ key: PortFiles.Key) -> Bool {
        shard(of: key).claims.withLock { $0.insert(key).inserted }
    }

    func release(_ key: PortFiles.Key) {
        shard(of: key).claims.withLock { _ = $0.remove(key) }
    }

    // MARK: Ports

    // A reference that was loaded under a lock may be the last one, so it is kept until the locks are
    // released.

    /// The valid port with a name, made if there is none.
    func port(
        of key: PortFiles.Key,
        make: () throws(MessagePortError) -> Local
    ) throws(MessagePortError) -> Local {
        let shard = shard(of: key)
        var (known, port): (Entry?, Local?)
        defer { withExtendedLifetime((known, port)) {} }
        return try shard.making.withLock { _ throws(MessagePortError) in
            (known, port) = shard.ports.withLock { ($0[key], $0[key]?.port.object) }
            if let port, port.isValid { return port }
            known?.claim.release()
            let made = try make()
            shard.ports.withLock { $0[key] = Entry(port: Weak(made), claim: made.receiver.claim) }
            return made
        }
    }

    /// Removes the entry of a port that was freed, and whose name is released.
    func forget(_ claim: NameClaim) {
        let key = claim.files.key
        shard(of: key).ports.withLock { ports in
            // Another port may have the name by now.
            if ports[key]?.claim === claim { ports[key] = nil }
        }
    }
}
