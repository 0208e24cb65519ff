/// The events that libuv's callbacks have recorded since the loop last took them.
///
/// The callbacks do nothing else.
final class ReadyNotes {
    struct Note {
        let descriptor: CInt
        let events: CInt
        let status: CInt
    }

    @safe @exclusivity(unchecked) private var notes: [Note] = []

    var count: Int { notes.count }

    func append(_ note: Note) { notes.append(note) }

    /// Passes every note to the body and removes it; the body must not add notes.
    func takeEach(_ body: (Note) -> Void) {
        for index in 0..<notes.count { body(notes[index]) }
        // For the single note of most polls, this is cheaper than `removeAll`.
        while !notes.isEmpty { notes.removeLast() }
    }
}
