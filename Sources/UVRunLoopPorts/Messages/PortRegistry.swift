import UVRunLoop

/// The names that this process has, and the ports behind them, so that a name means one object.
///
/// Each name has one of many locks, so that threads seldom meet that use different ones. A forked
/// child begins without any: what it inherits are its parent's names.
final class PortRegistry: Sendable {
    typealias Local = MessagePort.Local

    /// Some of the names.
    private final class Shard: Sendable {
        /// Held while a port is made, so that two threads get one port for one name.
        let making = Guarded(())
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

    // The lock of a name's file keeps other processes out, and this keeps threads out.

    /// Claims a name; returns `false` when another claim of this process has it.
    func claim(_ key: PortFiles.Key) -> Bool {
        shard(of: key).claims.withLock { $0.insert(key).inserted }
    }

    func release(_ key: PortFiles.Key) {
        shard(of: key).claims.withLock { _ = $0.remove(key) }
    }

    // MARK: Ports

    // What a lookup under the lock brings up may turn out to be the last reference, so it is always
    // handed out and released after the lock.

    /// The valid port of a name, made if there is none.
    func port(
        of key: PortFiles.Key,
        make: () throws(MessagePortError) -> Local
    ) throws(MessagePortError) -> Local {
        let shard = shard(of: key)
        let (port, replaced) = try shard.making.withLock {
            _ throws(MessagePortError) -> (Local, Local?) in
            let known = shard.ports.withLock { $0[key]?.object }
            if let known, known.isValid { return (known, nil) }
            // One that became invalid on another thread may not have given the name back yet.
            let port = try make()
            shard.ports.withLock { $0[key] = Weak(object: port) }
            return (port, known)
        }
        withExtendedLifetime(replaced) {}
        return port
    }

    /// Forgets a name whose port is gone.
    func forget(_ key: PortFiles.Key, of port: ObjectIdentifier) {
        let known = shard(of: key).ports.withLock { ports -> Local? in
            let known = ports[key]?.object
            // A port that is being freed reads as none; another one has the name by right.
            if known.map({ ObjectIdentifier($0) == port }) ?? true { ports[key] = nil }
            return known
        }
        withExtendedLifetime(known) {}
    }
}
