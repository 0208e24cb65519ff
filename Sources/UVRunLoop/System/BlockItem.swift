/// The blocks on their way to a loop.
typealias BlockQueue = SlotQueue<SystemWord, QueueSegments<BlockItem>>

/// A block, and the numbers of its modes if there are several.
struct BlockItem {
    let content: Content
    let modes: [Int]?

    /// Not a bare closure, which would be wrapped wherever it is handled as a value of any type.
    struct Content {
        let block: Block

        consuming func takeBlock() -> Block { block }
    }

    init(_ block: consuming @escaping Block, modes: [Int]? = nil) {
        content = Content(block: block)
        self.modes = modes
    }
}

extension QueueSegments<BlockItem> {
    /// Takes a block for one mode, which is all that its slot holds.
    @inline(__always)
    func takeBlock(_ place: Place) -> BlockItem.Content {
        unsafe UnsafeMutableRawPointer(Self.item(at: place))
            .assumingMemoryBound(to: BlockItem.Content.self).move()
    }
}

extension SlotQueue<SystemWord, QueueSegments<BlockItem>> {
    /// Takes the blocks at the front that are for one mode alone.
    ///
    /// - Parameters:
    ///   - reader: How far the taker has come.
    ///   - end: Up to where blocks are taken.
    ///   - mark: The mark of the mode.
    ///   - batch: Gets the blocks.
    /// - Returns: Whether there may be blocks that are left to ``take(_:upTo:_:)``.
    @inline(__always)
    func takeFront(
        _ reader: inout Reader,
        upTo end: Slot,
        mark: UInt64,
        into batch: inout BlockBatch
    ) -> Bool {
        takeFront(&reader, upTo: end, mark: mark) { most, take in
            unsafe batch.append(atMost: most) { next in
                var next = unsafe next
                return take { place in
                    unsafe next.initialize(to: segments.takeBlock(place))
                    unsafe next += 1
                }
            }
        }
    }
}
