extension UVRunLoop {
    /// Queues a block to run once in the default mode.
    ///
    /// Blocks run in the order in which they were queued, at the points of a pass at which blocks
    /// run. A block queued by a block waits for the next such point. A queued block keeps its mode
    /// from being empty, and wakes the loop if it comes from another thread. After the loop's
    /// thread has ended, the block is dropped.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter block: The work.
    public func perform(_ block: @escaping @Sendable () -> Void) {
        post { $0.post(block, to: .default) }
    }

    /// Queues a block to run once, in the first of several modes to run.
    ///
    /// ``Mode/common`` stands for every mode that is common when blocks run. Otherwise like
    /// ``perform(_:)``.
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

    /// Queues a block that need not be `Sendable`, because it comes from the loop's own thread.
    ///
    /// Otherwise like ``perform(inModes:_:)``.
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

    /// Runs the queued blocks of the mode, then jobs; a block queued meanwhile waits for the next
    /// time.
    @inline(__always)
    func performBlocks(_ run: inout Run) {
        if mayHoldBlocks { performBlocksThatWait(&run) }
        performJobs(&run)
    }

    private func performBlocksThatWait(_ run: inout Run) {
        refresh(&run)
        var batch = local.withValue { exchange(&$0.spareBatch, with: []) }
        let (mode, isCommon) = (run.modeNumber, run.view.isCommon)
        batch = takeBlocks(for: mode, isCommon: isCommon, into: batch)
        for index in batch.indices where !innermostRun.isEndedAtOnce {
            // Moved out one by one, so that each block is released right after it ran.
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

/// Runs a queued block.
///
/// Not inlined, so that it shows in backtraces and profiles.
@inline(never)
private func callOutToBlock(_ block: Block) { block() }
