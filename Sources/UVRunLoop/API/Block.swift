/// A block as it is queued; it runs on the loop's thread, wherever it came from.
typealias Block = @Sendable () -> Void
