/// A program for a run loop as a value: items, their handlers' actions, and the first actions.
///
/// Times are nanoseconds since the program began. An item is known by its index.
package struct Program: Hashable, Sendable {
    package var items: [Item]
    /// The actions of the loop's thread, one after the other; runs are actions, too.
    package var actions: [Action]
    /// The visits of another thread while the loop sleeps, in this order.
    package var visits: [Visit]

    package init(items: [Item], actions: [Action], visits: [Visit] = []) {
        self.items = items
        self.actions = actions
        self.visits = visits
    }

    /// After so many callouts, every further one only stops the innermost run, so that each
    /// program comes to its end.
    package static let longest = 60
    /// Runs nested deeper are left out.
    package static let deepest = 4
    /// When another thread stops a run that nothing else would end: 100 years from the start.
    package static let end: Int64 = 100 * 365 * 86_400 * 1_000_000_000
}

/// Something that calls, and what it does in its first, second, … call.
package struct Item: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case source(order: Int)
        /// Activities as their raw values, added up.
        case observer(UInt, repeats: Bool, order: Int)
        case timer(at: Int64, interval: Int64?, tolerance: Int64)
        /// A descriptor source for the read end of a pipe of its own.
        case reader(order: Int)
        /// A descriptor source for the write end of a pipe of its own, which is never written to.
        case writer(order: Int)
        case port(capacity: Int, order: Int)
        case block
    }

    package var kind: Kind
    /// The actions of the calls; later calls than these do nothing.
    package var calls: [[Action]]

    package init(_ kind: Kind, _ calls: [[Action]] = []) {
        self.kind = kind
        self.calls = calls
    }
}

/// A mode of a program.
package enum ModeName: Int, Hashable, Sendable, CaseIterable {
    case main, first, second, common

    /// Those in which a loop can run.
    package static let concrete: [ModeName] = [.main, .first, .second]
}

/// One thing that a program does.
package enum Action: Hashable, Sendable {
    case add(Int, ModeName)
    case remove(Int, ModeName)
    case invalidate(Int)
    case signal(Int)
    case wakeUp
    case stop
    case perform(Int, [ModeName])
    case performLocally(Int, [ModeName])
    /// Sets a timer's date, counted from now.
    case setDate(Int, after: Int64)
    case setTolerance(Int, Int64)
    case fire(Int)
    /// Writes a byte into a reader's pipe.
    case write(Int)
    /// Reads everything from a reader's pipe.
    case drain(Int)
    /// Closes the end of a pipe that is not watched.
    case closePeer(Int)
    /// Sends a port a message with this number.
    case send(Int, Int32)
    case run(ModeName, limit: Int64?, returnsAfterSource: Bool)
    case addCommonMode(ModeName)
    /// Takes time.
    case pass(Int64)
    case contains(Int, ModeName)
    case isValid(Int)
    case isSignalled(Int)
    case date(Int)
    case nextDate(ModeName)
    case modes
}

/// The actions of another thread while the loop sleeps.
package struct Visit: Hashable, Sendable {
    /// When, in virtual time; in real time a visit comes when the loop sleeps next.
    package var date: Int64
    package var actions: [Action]

    package init(at date: Int64, _ actions: [Action]) {
        self.date = date
        self.actions = actions
    }
}
