import TestSupport
import Testing

@testable import Guide

/// The log of a whole listing.
func lines(of number: String) throws -> [String] {
    let listing = try #require(Listing.numbered(number))
    let log = Log()
    try listing.run(log)
    return log.lines
}

/// The log of a routine, run on its own thread.
func lines(_ routine: @escaping @Sendable (Log) throws -> Void) throws -> [String] {
    let log = Log()
    try Listing("", "", routine).run(log)
    return log.lines
}

/// The log of a routine whose loop has a virtual clock, which advances only in sleeps.
func linesInVirtualTime(_ routine: (Log) throws -> Void) rethrows -> [String] {
    let log = Log()
    try withLoop(.manual) { _, _ in try routine(log) }
    return log.lines
}
