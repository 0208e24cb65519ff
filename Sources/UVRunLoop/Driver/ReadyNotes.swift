/// What libuv's callbacks wrote down since the loop last asked.
///
/// They do nothing else.
final class ReadyNotes {
    struct Note {
        let watch: UVWatch
        let events: CInt
        let status: CInt
    }

    private(set) var notes: [Note] = []

    func note(_ watch: UVWatch, events: CInt, status: CInt) {
        // While very much is ready, libuv asks the kernel many times in one look and is told the
        // same each time.
        if exchange(&watch.isNoted, with: true), status >= 0 { return }
        notes.append(Note(watch: watch, events: events, status: status))
    }

    func clear() {
        // Even for an empty array that is some work, and nearly every look finds nothing.
        guard !notes.isEmpty else { return }
        for note in notes { note.watch.isNoted = false }
        notes.removeAll(keepingCapacity: true)
    }
}
