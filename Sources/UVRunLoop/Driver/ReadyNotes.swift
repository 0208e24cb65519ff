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
    /// Errors that came up while libuv only worked off its own queue.
    private var early: [Note] = []
    /// libuv only works off its own queue at the moment.
    ///
    /// What it finds ready it will find again, but not errors: after one it stops watching.
    var isMuted = false

    func note(_ watch: UVWatch, events: CInt, status: CInt) {
        // While very much is ready, libuv asks the kernel many times in one look and is told the
        // same each time.
        if !isMuted, exchange(&watch.isNoted, with: true), status >= 0 { return }
        let note = Note(watch: watch, events: events, status: status)
        if !isMuted {
            notes.append(note)
        } else if status < 0 {
            early.append(note)
        }
    }

    /// Begins anew, with what came up too early; answers whether there was such a thing.
    func begin() -> Bool {
        clear()
        guard !early.isEmpty else { return false }
        swap(&notes, &early)
        return true
    }

    func clear() {
        // Even for an empty array that is some work, and nearly every look finds nothing.
        guard !notes.isEmpty else { return }
        for note in notes { note.watch.isNoted = false }
        notes.removeAll(keepingCapacity: true)
    }
}
