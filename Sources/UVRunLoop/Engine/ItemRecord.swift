/// What a loop keeps about one item: each kind of item says what joining and leaving a mode means
/// for it.
protocol ItemRecord {
    associatedtype Items: ItemTypes

    var attachment: Attachment { get set }

    /// Enters the item in a mode's queues and lists; answers its place there.
    func join(_ mode: inout ModeContents<Items>, slot: UInt32) -> HeapSlot
    func leave(_ mode: inout ModeContents<Items>, place: HeapSlot)
}
