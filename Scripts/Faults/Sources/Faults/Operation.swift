import Injection
import UVRunLoop

/// Something that a program does with the library's public interface, from its first call to the
/// last, so that it leaves nothing behind.
struct Operation: Sendable {
    let name: String
    /// Makes what stays in the process after some of its faults, so that it is always there.
    let prepare: @Sendable () -> Void
    let body: @Sendable (Scene) throws -> Void

    init(
        _ name: String,
        prepare: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (Scene) throws -> Void
    ) {
        self.name = name
        self.prepare = prepare
        self.body = body
    }

    static let all =
        loops + timers + descriptors + processes + threads + sockets + messages + system
}

/// How an operation went.
enum Outcome: Sendable {
    /// All that was asked for happened.
    case done
    /// The library refused something, by an error that it documents.
    case refused(String)
    /// Something that was asked for did not happen in time, and no error said so.
    case missing(String)
    /// Something happened that may happen under no circumstances.
    case wrong(String)
}

/// Something did not happen in time.
struct Missing: Error {
    let what: String
}

/// Something happened that may never happen.
struct Wrong: Error {
    let what: String
}

/// The system, by way of a port's event, said that something is not possible.
struct Reported: Error {
    let what: String
}

/// The surroundings of an operation.
struct Scene: Sendable {
    /// How long what is asked for may take before it counts as missing.
    let limit: Duration
    /// A name that no other operation uses.
    let name: String

    func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        if !condition { throw Missing(what: what()) }
    }

    func require(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        if !condition { throw Wrong(what: what()) }
    }

    /// Runs a loop until a handler stops it, at most for the limit.
    func run(_ loop: UVRunLoop, in mode: UVRunLoop.Mode = .default) {
        loop.run(mode: mode, for: limit)
    }

    /// Waits until something that another thread does is seen.
    func awaits(_ condition: () -> Bool) -> Bool {
        let end = UVRunLoop.Instant.now + limit
        while !condition() {
            if UVRunLoop.Instant.now >= end { return condition() }
            work_sleep(100)
        }
        return true
    }
}

extension Operation {
    /// Does it, on the calling thread.
    func perform(_ scene: Scene) -> Outcome {
        do {
            try body(scene)
            return .done
        } catch let error as Missing {
            return .missing(error.what)
        } catch let error as Wrong {
            return .wrong(error.what)
        } catch let error as Reported {
            return .refused(error.what)
        } catch {
            return .refused("\(error)")
        }
    }
}
