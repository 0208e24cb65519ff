/// How often others asked a thread's runs to stop.
final class StopCount: Sendable {
    private let begun = Number()
    private let ended = Number()

    /// Asks for a stop of a run.
    func count(_ stop: () -> Void) {
        begun.add()
        stop()
        ended.add()
    }

    /// How many have been asked for and are done.
    var past: Int { ended.value }

    /// How many may have been asked for by now.
    var total: Int { begun.value }
}
