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
    public func perform(_ block: consuming @escaping @Sendable () -> Void) {
        post(BlockSegments.Item(block), mark: defaultMark)
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
    public func perform(inModes modes: [Mode], _ block: consuming @escaping @Sendable () -> Void) {
        require(
            !modes.isEmpty,
            "A block for no mode would never run. Name at least one mode."
        )
        checkProcess()
        for mode in modes { blockModes.note(mode) }
        if modes.count == 1 {
            post(BlockSegments.Item(block), mark: Self.mark(of: modes[0].number))
        } else {
            let item = BlockSegments.Item(block, modes: modes.map(\.number))
            post(item, mark: Self.sharedMark)
        }
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
        let bound = HomeBound(ThreadBound(block))
        perform(inModes: modes) { bound.current?() }
    }

    /// What a slot of the queue says of a block for one mode.
    @inline(__always)
    static func mark(of mode: Int) -> UInt64 { sharedMark &+ 1 &+ UInt64(truncatingIfNeeded: mode) }

    private static func mode(of mark: UInt64) -> Int { Int(mark - sharedMark - 1) }

    /// What it says of a block for several modes.
    @inline(__always)
    private static var sharedMark: UInt64 { SlotMark.first }

    @inline(__always)
    private func post(_ item: consuming BlockSegments.Item, mark: UInt64) {
        checkProcess()
        if blocks.post(item, mark: mark) { blocksDidChange() }
    }

    // MARK: Step 3, and after every event

    /// Runs the blocks that wait for the mode; one posted meanwhile waits for the next time.
    @inline(__always)
    func performBlocks(_ run: inout Run) {
        if mayHoldBlocks { performBlocksThatWait(&run) }
    }

    private func performBlocksThatWait(_ run: inout Run) {
        refresh(&run)
        var batch = takeBlocks(for: run.modeNumber, isCommon: run.view.isCommon)
        // Taken out one by one, so that each block is released right after it ran.
        while !innermostRun.isEndedAtOnce, let next = batch.takeNext() {
            callOutToBlock(next.takeBlock())
        }
        run.timeHasPassed()
        batch.removeAll()
        localBlocks.withValue { swap(&$0.spareBatch, &batch) }
    }

    /// Takes the blocks that may run in a mode; sorts the others into theirs.
    private func takeBlocks(for mode: Int, isCommon: Bool) -> BlockBatch {
        localBlocks.withValue { local in
            var batch = exchange(&local.spareBatch, with: BlockBatch())
            // What was sorted before came before.
            if local.inbox.count > 0 {
                local.inbox.take(for: mode, isCommon: isCommon, into: &batch)
            }
            let own = Self.mark(of: mode)
            let end = blocks.end
            blocks.take(&local.reader, upTo: end) { slot, mark in
                if mark == own {
                    batch.append(blocks.segments.takeBlock(slot))
                } else {
                    take(slot, mark, into: &batch, for: mode, isCommon: isCommon, &local.inbox)
                }
            }
            noteTaken(upTo: end, &local)
            return batch
        }
    }

    /// Takes a block that is not for the running mode alone.
    @inline(never)
    private func take(
        _ slot: BlockQueue.Slot,
        _ mark: UInt64,
        into batch: inout BlockBatch,
        for mode: Int,
        isCommon: Bool,
        _ inbox: inout Inbox
    ) {
        let item = blocks.segments.take(slot)
        let modes = item.modes ?? [Self.mode(of: mark)]
        if modes.contains(mode) || (isCommon && modes.contains(Mode.common.number)) {
            batch.append(item.content)
        } else {
            inbox.post(item.content.block, to: modes)
        }
    }

    private func noteTaken(upTo end: BlockQueue.Slot, _ local: inout LocalBlocks) {
        let isEmpty = !local.reader.hasPassedOver && local.inbox.count == 0
        emptyUpTo.store(isEmpty ? end : .max, ordering: .relaxed)
    }

    /// Whether a block waits that may run in the mode.
    func holdsBlocks(for mode: Int, isCommon: Bool) -> Bool {
        guard mayHoldBlocks else { return false }
        return localBlocks.withValue { local in
            if blocks.peek(local.reader) == Self.mark(of: mode) { return true }
            let end = blocks.end
            blocks.take(&local.reader, upTo: end) { slot, mark in sort(slot, mark, &local.inbox) }
            noteTaken(upTo: end, &local)
            return local.inbox.holdsBlock(for: mode, isCommon: isCommon)
        }
    }

    @inline(never)
    private func sort(_ slot: BlockQueue.Slot, _ mark: UInt64, _ inbox: inout Inbox) {
        let item = blocks.segments.take(slot)
        inbox.post(item.content.block, to: item.modes ?? [Self.mode(of: mark)])
    }

    /// Refuses blocks from now on; hands over those that wait, to be released.
    func closeBlocks() -> [Block] {
        let end = blocks.close()
        return localBlocks.withValue { local in
            repeat {
                blocks.take(&local.reader, upTo: end) { sort($0, $1, &local.inbox) }
                if local.reader.hasPassedOver { sleepBriefly() }
            } while local.reader.hasPassedOver
            blocks.didTakeLast(local.reader)
            emptyUpTo.store(.max, ordering: .relaxed)
            return local.inbox.removeAll()
        }
    }
}

/// Runs a block that was handed to a loop.
///
/// Stays out of line so that backtraces and profiles show whose turn it was.
@inline(never)
private func callOutToBlock(_ block: consuming @escaping Block) { block() }
