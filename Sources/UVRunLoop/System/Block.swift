/// A queued block, which runs on the loop's thread.
typealias Block = @Sendable () -> Void
