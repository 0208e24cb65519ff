import UVRunLoop

/// The ports of this process by name, so that a name means one object.
struct PortRegistry<Port: AnyObject & Sendable>: ~Copyable, Sendable {
    private let ports = Locked<[PortFiles.Key: Weak<Port>]>([:])

    // What a look under the lock brings up may turn out to be the last reference, so it is always
    // handed out and let go of after the lock.

    /// The port of a name, while somebody holds it.
    func port(of key: PortFiles.Key) -> Port? {
        ports.withLock { $0[key]?.object }
    }

    /// Enters a port, unless the name has one that will do.
    ///
    /// - Returns: The port that the name has now.
    func enter(_ port: Port, for key: PortFiles.Key, unless isGood: (Port) -> Bool) -> Port {
        let (entered, replaced) = ports.withLock { ports -> (Port, Port?) in
            let known = ports[key]?.object
            if let known, isGood(known) { return (known, nil) }
            ports[key] = Weak(object: port)
            return (port, known)
        }
        withExtendedLifetime(replaced) {}
        return entered
    }

    /// Forgets a name whose port is gone.
    func forget(_ key: PortFiles.Key, of port: ObjectIdentifier) {
        let known = ports.withLock { ports -> Port? in
            let known = ports[key]?.object
            // A port that is being freed reads as none; another one has the name by right.
            if known.map({ ObjectIdentifier($0) == port }) ?? true { ports[key] = nil }
            return known
        }
        withExtendedLifetime(known) {}
    }
}
