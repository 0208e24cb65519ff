/// What libuv's callbacks wrote down since the loop last asked.
///
/// They do nothing else.
final class ReadyNotes {
    struct Note {
        let descriptor: CInt
        let events: CInt
        let status: CInt
    }

    @safe @exclusivity(unchecked) private var notes: [Note] = []

    var count: Int { notes.count }

    func append(_ note: Note) { notes.append(note) }

    /// Hands every note over and forgets it; the body makes no new ones.
    func takeEach(_ body: (Note) -> Void) {
        for index in 0..<notes.count { body(notes[index]) }
        // For the one note that most looks make, this is cheaper than `removeAll`.
        while !notes.isEmpty { notes.removeLast() }
    }
}
