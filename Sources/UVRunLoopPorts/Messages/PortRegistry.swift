import UVRunLoop

/// The ports of this process by name, so that a name means one object.
///
/// A forked child begins without any: what it inherits are its parent's names and connections.
struct PortRegistry<Port: AnyObject & Sendable>: ~Copyable, Sendable {
    // Not private: Swift 6.3 cannot link a private type of a generic one.
    struct Book: Sendable {
        var owner = Process.id
        var ports: [PortFiles.Key: Weak<Port>] = [:]

        mutating func turnToThisProcess() {
            if owner != Process.id { self = Book() }
        }
    }

    private let book = Guarded(Book())

    // What a look under the lock brings up may turn out to be the last reference, so it is always
    // handed out and let go of after the lock.

    /// The port of a name, while somebody holds it.
    func port(of key: PortFiles.Key) -> Port? {
        book.withLock { book in
            book.turnToThisProcess()
            return book.ports[key]?.object
        }
    }

    /// Enters a port, unless the name has one that will do.
    ///
    /// - Returns: The port that the name has now.
    func enter(_ port: Port, for key: PortFiles.Key, unless isGood: (Port) -> Bool) -> Port {
        let (entered, replaced) = book.withLock { book -> (Port, Port?) in
            book.turnToThisProcess()
            let known = book.ports[key]?.object
            if let known, isGood(known) { return (known, nil) }
            book.ports[key] = Weak(object: port)
            return (port, known)
        }
        withExtendedLifetime(replaced) {}
        return entered
    }

    /// Forgets a name whose port is gone.
    func forget(_ key: PortFiles.Key, of port: ObjectIdentifier) {
        let known = book.withLock { book -> Port? in
            let known = book.ports[key]?.object
            // A port that is being freed reads as none; another one has the name by right.
            if known.map({ ObjectIdentifier($0) == port }) ?? true { book.ports[key] = nil }
            return known
        }
        withExtendedLifetime(known) {}
    }
}
