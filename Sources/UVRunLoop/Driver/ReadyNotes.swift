/// What libuv's callbacks wrote down since the loop last asked.
///
/// They do nothing else.
final class ReadyNotes {
    struct Note {
        let watch: UVWatch
        let events: CInt
        let status: CInt
    }

    @safe @exclusivity(unchecked) private(set) var notes: [Note] = []

    func note(_ watch: UVWatch, events: CInt, status: CInt) {
        // While very much is ready, libuv asks the kernel many times in one look and is told the
        // same each time.
        if exchange(&watch.isNoted, with: true), status >= 0 { return }
        notes.append(Note(watch: watch, events: events, status: status))
    }

    func clear() {
        guard !notes.isEmpty else { return }
        Self.clear(&notes)
    }

    /// Asks for the notes once, which each look at them from outside would do again.
    private static func clear(_ notes: inout [Note]) {
        while let note = notes.popLast() { note.watch.isNoted = false }
    }
}
