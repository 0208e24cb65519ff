/// A loop's record of one item; defines what joining and leaving a mode does for its kind.
protocol ItemRecord {
    associatedtype Items: ItemTypes

    var attachment: Attachment { get set }

    /// Adds the item to a mode's queues and lists.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - slot: The item's slot in the loop's table, under which the mode's heaps know it.
    func join(_ mode: inout ModeContents<Items>, slot: HeapSlot)
    func leave(_ mode: inout ModeContents<Items>, slot: HeapSlot)
}
