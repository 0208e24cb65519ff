@testable import UVRunLoop

extension GenericEngine {
    /// Takes the first signalled source of a mode, as a copy.
    mutating func takeSignalled(in mode: Int) -> (source: Items.Source, ticket: Ticket)? {
        guard let taken = takeFirstSignalled(in: mode) else { return nil }
        return (taken.source, taken.ticket)
    }
}
