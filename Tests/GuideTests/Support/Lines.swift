import TestSupport
import Testing

@testable import Guide

/// What a listing notes from its start to its end.
func lines(of number: String) throws -> [String] {
    let listing = try #require(Listing.numbered(number))
    let log = Log()
    try listing.run(log)
    return log.lines
}

/// What a routine notes on a thread of its own.
func lines(_ routine: @escaping @Sendable (Log) throws -> Void) throws -> [String] {
    let log = Log()
    try Listing("", "", routine).run(log)
    return log.lines
}

/// What a routine notes when the clock of its loop stands still but for sleeps.
func linesInVirtualTime(_ routine: (Log) throws -> Void) rethrows -> [String] {
    let log = Log()
    try withLoop(.manual) { _, _ in try routine(log) }
    return log.lines
}
