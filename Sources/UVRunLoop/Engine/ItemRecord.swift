/// A loop's record of one item; defines what joining and leaving a mode does for its kind.
protocol ItemRecord {
    associatedtype Items: ItemTypes

    var attachment: Attachment { get set }

    /// Called before the item joins or leaves a mode, but not before it leaves its loop.
    mutating func willChangeModes(_ modes: inout ModeTable<Items>)

    /// Adds the item to a mode's queues and lists.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - ticket: The item.
    /// - Returns: The item's slot in the mode's heaps.
    mutating func join(_ mode: inout ModeContents<Items>, as ticket: Ticket) -> HeapSlot
    mutating func leave(_ mode: inout ModeContents<Items>, slot: HeapSlot)
}

extension ItemRecord {
    func willChangeModes(_ modes: inout ModeTable<Items>) {}
}
