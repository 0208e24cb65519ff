/// A loop's record of one item; defines what joining and leaving a mode does for its kind.
protocol ItemRecord {
    associatedtype Items: ItemTypes

    var attachment: Attachment { get set }

    /// Adds the item to a mode's queues and lists; returns its slot there.
    func join(_ mode: inout ModeContents<Items>, slot: UInt32) -> HeapSlot
    func leave(_ mode: inout ModeContents<Items>, heapSlot: HeapSlot)
}
