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
    public func perform(_ block: consuming @escaping @Sendable () -> Void) {
        post(BlockItem(block), mark: Self.mark(of: Mode.default.number))
    }

    /// Queues a block to run once, in the first of several modes to run.
    ///
    /// ``Mode/common`` stands for every mode that is common when blocks run. Otherwise like
    /// ``perform(_:)``.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; traps if there is none.
    ///   - block: The work.
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    public func perform(
        inModes modes: [Mode],
        _ block: consuming @escaping @Sendable () -> Void,
        file: StaticString = #fileID,
        line: UInt = #line
    ) {
        require(
            !modes.isEmpty,
            "A block for no mode would never run. Name at least one mode.",
            file: file,
            line: line
        )
        checkProcess()
        for mode in modes { contents.blockModes.insert(mode) }
        if modes.count == 1 {
            post(BlockItem(block), mark: Self.mark(of: modes[0].number))
        } else {
            let item = BlockItem(block, modes: modes.map(\.number))
            post(item, mark: Self.sharedMark)
        }
    }

    /// Queues a block that need not be `Sendable`, because it comes from the loop's own thread.
    ///
    /// Otherwise like ``perform(inModes:_:file:line:)``.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; traps if there is none.
    ///   - block: The work.
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    @available(*, noasync, message: "A task may go on on another thread. Use perform(_:).")
    public func performLocally(
        inModes modes: [Mode] = [.default],
        _ block: @escaping () -> Void,
        file: StaticString = #fileID,
        line: UInt = #line
    ) {
        checkThread(file: file, line: line)
        let bound = HomeBound(block)
        perform(inModes: modes, { bound.current?() }, file: file, line: line)
    }

    // MARK: The queue

    /// The mark of a block for one mode.
    @inline(__always)
    private static func mark(of mode: Int) -> UInt64 {
        sharedMark &+ 1 &+ UInt64(truncatingIfNeeded: mode)
    }

    private static func mode(of mark: UInt64) -> Int { Int(mark - sharedMark - 1) }

    /// The mark of a block for several modes.
    @inline(__always)
    private static var sharedMark: UInt64 { SlotMark.first }

    @inline(__always)
    private func post(_ item: consuming BlockItem, mark: UInt64) {
        checkProcess()
        if contents.queue.post(item, mark: mark) { waker.blocksDidChange() }
    }

    /// Whether a block may be queued for any mode.
    @inline(__always)
    func mayHoldBlocks(_ local: LocalState) -> Bool {
        contents.queue.end != local.blocks.emptyUpTo
    }

    /// Whether a block is queued that may run in a mode.
    func holdsBlocks(for mode: Int, isCommon: Bool, _ local: LocalState) -> Bool {
        guard mayHoldBlocks(local) else { return false }
        // A segment that the reader leaves is used again, and the queue may come to the same end.
        local.blocks.emptyUpTo = .max
        contents.queue.enterNextSegmentAtEnd(&local.blocks.reader)
        let next = contents.queue.peek(local.blocks.reader)
        if next == Self.mark(of: mode) { return true }
        if isCommon, next == Self.mark(of: Mode.common.number) { return true }
        let end = contents.queue.end
        sortBlocks(upTo: end, &local.blocks)
        didTakeBlocks(upTo: end, &local.blocks)
        return local.blocks.waiting.holdsItem(for: mode, isCommon: isCommon)
    }

    // MARK: Step 3, and after every event

    /// Runs the queued blocks of the mode, then jobs; a block queued meanwhile waits for the next
    /// time.
    @inline(__always)
    func performBlocks(_ run: inout Run) {
        if mayHoldBlocks(run.local) { performQueuedBlocks(&run) }
        performJobs(&run)
    }

    private func performQueuedBlocks(_ run: inout Run) {
        refresh(&run)
        // With the thread sanitizer, Swift 6.3.1 crashes on `&run.local.blocks`.
        let local = run.local
        let (mode, isCommon) = (run.modeNumber, run.view.isCommon)
        var batch = takeBlocks(for: mode, isCommon: isCommon, &local.blocks)
        if LoopTracing.isOn {
            if batch.count > 0 { trace(.tookBlocks(batch.count)) }
            batch = callUntilDiscarded(batch)
        } else {
            batch = call(batch)
        }
        userCodeMayHaveRun(&run)
        batch.removeAll()
        swap(&local.blocks.spareBatch, &batch)
    }

    /// Runs the blocks of a batch.
    ///
    /// A function of its own, so that all that the first loop uses is in registers. The second one
    /// has more to check.
    ///
    /// - Returns: The batch, which would have to be in memory if it were passed as `inout`; with
    ///   the blocks that are discarded.
    @inline(never)
    private func call(_ batch: consuming BlockBatch) -> BlockBatch {
        // Moved out one by one, so that each block is released right after it ran.
        while !runState.isStoppedForGood, let next = batch.takeNext() {
            callOutToBlock(next.takeBlock())
        }
        return batch.count == 0 ? batch : callUntilDiscarded(batch)
    }

    /// Runs the blocks of a batch after the loop was ended, or while something traces; see
    /// ``isEndedAtOnce``.
    @inline(never)
    private func callUntilDiscarded(_ batch: consuming BlockBatch) -> BlockBatch {
        while !isEndedAtOnce, let next = batch.takeNext() {
            calling(.block) { callOutToBlock(next.takeBlock()) }
        }
        return batch
    }

    /// Takes the blocks that may run in a mode, and sorts the others into their modes.
    private func takeBlocks(
        for mode: Int,
        isCommon: Bool,
        _ local: inout LocalBlocks
    ) -> BlockBatch {
        var batch = exchange(&local.spareBatch, with: BlockBatch())
        // Blocks that were sorted before came before.
        while local.waiting.count > 0,
            let block = local.waiting.takeNext(for: mode, isCommon: isCommon)
        {
            batch.append(block)
        }
        let queue = contents.queue
        let own = Self.mark(of: mode)
        let end = queue.end
        let hasMore = queue.takeFront(&local.reader, upTo: end, mark: own, into: &batch)
        if hasMore {
            queue.take(&local.reader, upTo: end) { place, mark in
                if mark == own {
                    batch.append(queue.segments.takeBlock(place))
                } else {
                    take(place, mark, into: &batch, for: mode, isCommon: isCommon, &local.waiting)
                }
            }
        }
        didTakeBlocks(upTo: end, &local)
        return batch
    }

    /// Takes a block that is not for the running mode alone.
    @inline(never)
    private func take(
        _ place: BlockQueue.Place,
        _ mark: UInt64,
        into batch: inout BlockBatch,
        for mode: Int,
        isCommon: Bool,
        _ waiting: inout WaitingBlocks
    ) {
        let item = contents.queue.segments.take(place)
        let common = Mode.common.number
        let isForMode =
            item.modes.map { $0.contains(mode) || (isCommon && $0.contains(common)) }
            ?? (isCommon && Self.mode(of: mark) == common)
        if isForMode { batch.append(item.content) } else { sort(item, mark, into: &waiting) }
    }

    @inline(never)
    private func sortBlocks(upTo end: BlockQueue.Slot, _ local: inout LocalBlocks) {
        contents.queue.take(&local.reader, upTo: end) { place, mark in
            sort(contents.queue.segments.take(place), mark, into: &local.waiting)
        }
    }

    private func sort(_ item: BlockItem, _ mark: UInt64, into waiting: inout WaitingBlocks) {
        // Most blocks are for one mode, which needs no array.
        if let modes = item.modes {
            waiting.insert(item.content, for: modes)
        } else {
            waiting.insert(item.content, for: Self.mode(of: mark))
        }
    }

    private func didTakeBlocks(upTo end: BlockQueue.Slot, _ local: inout LocalBlocks) {
        let isEmpty = !local.reader.hasPassedOver && local.waiting.count == 0
        local.emptyUpTo = isEmpty ? end : .max
    }

    // MARK: The end

    /// Refuses blocks from now on.
    ///
    /// - Returns: The queued blocks, for the caller to release.
    func closeBlocks() -> [Block] {
        // Not `&local.here.blocks`, which the thread sanitizer takes for a change of `local` itself.
        let local = local.here
        return takeRest(&local.blocks)
    }

    private func takeRest(_ local: inout LocalBlocks) -> [Block] {
        let end = contents.queue.close()
        contents.queue.takeRest(&local.reader, upTo: end) { place, mark in
            sort(contents.queue.segments.take(place), mark, into: &local.waiting)
        }
        local.emptyUpTo = .max
        return local.waiting.removeAll().map { $0.takeBlock() }
    }
}

/// Runs a queued block.
///
/// Not inlined, so that it shows in backtraces and profiles.
@inline(never)
private func callOutToBlock(_ block: consuming @escaping Block) { block() }
