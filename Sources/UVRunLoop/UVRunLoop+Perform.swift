extension UVRunLoop {
    /// Hands a block to the loop, to run in the default mode.
    ///
    /// Blocks run in the order in which they were handed over, at the points of a pass at which
    /// blocks run; one that is handed over by a block waits for the next such point. A block that
    /// waits keeps its mode from being empty, and wakes the loop if it comes from another thread.
    /// After the loop's thread has ended the block is dropped.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter block: The work.
    public func perform(_ block: @escaping @Sendable () -> Void) {
        post { $0.post(block, to: .default) }
    }

    /// Hands a block to the loop, to run once, in whichever of some modes runs first.
    ///
    /// ``Mode/common`` stands for every mode that is a common one when blocks are performed.
    /// Otherwise as ``perform(_:)``.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; traps when there is none.
    ///   - block: The work.
    public func perform(inModes modes: [Mode], _ block: @escaping @Sendable () -> Void) {
        require(
            !modes.isEmpty,
            "A block for no mode would never run. Name at least one mode."
        )
        post { $0.post(block, to: modes) }
    }

    /// Hands the loop a block that need not be `Sendable`, because it comes from the loop's own
    /// thread.
    ///
    /// Otherwise as ``perform(inModes:_:)``.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; traps when there is none.
    ///   - block: The work.
    @available(*, noasync, message: "A task may go on on another thread.")
    public func performLocally(inModes modes: [Mode] = [.default], _ block: @escaping () -> Void) {
        checkThread()
        let bound = HomeBound(block)
        perform(inModes: modes) { bound.current?() }
    }

    private func post(_ body: (inout Inbox) -> sending Bool) {
        if withInbox(body) { waker.blocksDidChange() }
    }

    // MARK: Step 3, and after every event

    /// Runs the blocks that wait for the mode; one posted meanwhile waits for the next time.
    @inline(__always)
    func performBlocks(_ run: inout Run) {
        if mayHoldBlocks { performBlocksThatWait(&run) }
    }

    private func performBlocksThatWait(_ run: inout Run) {
        refresh(&run)
        var batch = local.withValue { exchange(&$0.spareBatch, with: []) }
        let (mode, isCommon) = (run.modeNumber, run.view.isCommon)
        batch = takeBlocks(for: mode, isCommon: isCommon, into: batch)
        for index in batch.indices where !innermostRun.isEndedAtOnce {
            // Taken out one by one, so that each block is released right after it ran.
            if let block = batch[index].takeBlock() { callOutToBlock(block) }
        }
        run.timeHasPassed()
        batch.removeAll(keepingCapacity: true)
        local.withValue { $0.spareBatch = batch }
    }

    private func takeBlocks(
        for mode: Int,
        isCommon: Bool,
        into storage: consuming [Inbox.Entry]
    ) -> [Inbox.Entry] {
        var batch = storage
        withInbox { $0.take(for: mode, isCommon: isCommon, into: &batch) }
        return batch
    }
}

/// Runs a block that was handed to a loop.
///
/// Stays out of line so that backtraces and profiles show whose turn it was.
@inline(never)
private func callOutToBlock(_ block: Block) { block() }
