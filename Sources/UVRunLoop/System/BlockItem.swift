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
