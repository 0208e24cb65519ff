/// Something that a loop did; times are nanoseconds of the monotonic clock.
package enum LoopEvent: Sendable {
    /// A run, with its nesting level.
    case runBegan(UVRunLoop.Mode, level: Int, at: Int64)
    case runEnded(UVRunLoop.RunResult, at: Int64)
    /// A pass, and how many perform requests wait.
    case passBegan(at: Int64, requests: Int)
    case slept(from: Int64, until: Int64)
    case called(Callout, from: Int64, until: Int64)
    /// The loop has taken the blocks that were waiting, to run them.
    case tookBlocks(Int)
    /// The loop has performed jobs in a row.
    case performedJobs(Int)

    // What is likely to be a mistake.

    /// The kernel has refused to watch a descriptor.
    case refused(descriptor: CInt, at: Int64)
    /// A run returned at once in a mode that nothing was ever added to, and that has never run.
    case modeIsUnused(UVRunLoop.Mode, at: Int64)
}
