/// Prints how far the counting has come, at a limited rate.
struct Progress {
    private var linesShown = 0
    private var bytesShown = -1
    private var timeShown = Duration.zero

    /// Prints a line if something was counted since the last one.
    ///
    /// The first lines are printed as often as requested; after that, at most one a second.
    mutating func show(
        _ cause: String,
        at time: Duration,
        _ text: TextCounter,
        unless isQuiet: Bool
    ) {
        guard !isQuiet, text.bytes != bytesShown else { return }
        guard linesShown < 16 || time - timeShown >= .seconds(1) || cause == "end" else { return }
        linesShown += 1
        bytesShown = text.bytes
        timeShown = time

        let columns = [
            time.inSeconds.leftPadded(to: 9),
            cause.rightPadded(to: 5),
            text.lines.of("line").leftPadded(to: 16),
            text.words.of("word").leftPadded(to: 18),
            text.bytes.of("byte").leftPadded(to: 20),
        ]
        Screen.line(columns.joined(separator: "  "))
    }
}
