/// The events that libuv's callbacks have recorded since the loop last took them.
///
/// The callbacks do nothing else.
final class ReadyNotes {
    struct Note {
        let descriptor: CInt
        let events: CInt
        let status: CInt
    }

    @safe @exclusivity(unchecked) private var notes = OwnedArray<Note>()
    /// The number of notes that were taken.
    @safe @exclusivity(unchecked) private var taken = 0

    /// The number of notes until all are taken.
    var count: Int { notes.count }

    func append(_ note: Note) { notes.append(note) }

    /// Takes the oldest note; `nil` if there is none.
    func takeNext() -> Note? {
        guard taken < notes.count else {
            notes.removeAll()
            taken = 0
            return nil
        }
        taken += 1
        return notes[taken - 1]
    }
}
