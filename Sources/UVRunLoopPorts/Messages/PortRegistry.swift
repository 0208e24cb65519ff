import Synchronization
import UVRunLoop

/// The names that this process owns, and their ports, so that a name means one object.
///
/// It is sharded, so that threads that use different names seldom contend. A forked child starts
/// with an empty registry: the inherited names are its parent's.
final class PortRegistry: Sendable {
    typealias Local = MessagePort.Local

    /// One shard of the names.
    private final class Shard: Sendable {
        /// Held while a port is made, so that two threads get the same port for a name.
        ///
        /// Not a `Lock`, which takes a holder that works with files for seconds for a thread of the
        /// parent that forked.
        let making = Mutex(())
        let claims = Guarded<Set<PortFiles.Key>>([])
        let ports = Guarded<[PortFiles.Key: Weak<Local>]>([:])
    }

    private static let ofProcess = PerProcess { PortRegistry() }

    static var current: PortRegistry { ofProcess.current }

    private let shards = (0..<64).map { _ in Shard() }

    private func shard(of key: PortFiles.Key) -> Shard {
        shards[Int(UInt(bitPattern: key.hashValue) % UInt(shards.count))]
    }

    // MARK: Claims

    // The lock on a name's file excludes other processes; this excludes threads.

    /// Claims a name; returns `false` if this process has claimed it already.
    func claim(_ key: PortFiles.Key) -> Bool {
        shard(of: key).claims.withLock { $0.insert(key).inserted }
    }

    func release(_ key: PortFiles.Key) {
        shard(of: key).claims.withLock { _ = $0.remove(key) }
    }

    // MARK: Ports

    // A reference that was loaded under the lock may be the last one, so it is returned and
    // released outside the lock.

    /// The valid port with a name, made if there is none.
    func port(
        of key: PortFiles.Key,
        make: () throws(MessagePortError) -> Local
    ) throws(MessagePortError) -> Local {
        let shard = shard(of: key)
        let (port, replaced) = try shard.making.withLock {
            _ throws(MessagePortError) -> (Local, Local?) in
            let known = shard.ports.withLock { $0[key]?.object }
            if let known, known.isValid { return (known, nil) }
            // The name of a port that was just invalidated on another thread may still be claimed.
            let port = try make()
            shard.ports.withLock { $0[key] = Weak(port) }
            return (port, known)
        }
        withExtendedLifetime(replaced) {}
        return port
    }

    /// Removes the entry of a port that was freed.
    func forget(_ key: PortFiles.Key, of port: ObjectIdentifier) {
        let known = shard(of: key).ports.withLock { ports -> Local? in
            let known = ports[key]?.object
            // A port that is being freed reads as nil; if another port is found, it owns the name.
            if known.map({ ObjectIdentifier($0) == port }) ?? true { ports[key] = nil }
            return known
        }
        withExtendedLifetime(known) {}
    }
}
