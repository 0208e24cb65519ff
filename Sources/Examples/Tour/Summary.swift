/// The counts, and the work that the loop did for them.
struct Summary {
    let text: TextCounter
    let passes: Int
    let timerFires: Int
    let wakeUps: Int
    let commands: Int
    let time: Duration

    func show() {
        Screen.line()
        Screen.line(Screen.bold("Summary"))
        Screen.line()
        show("lines", text.lines, "passes", passes)
        show("words", text.words, "timer fires", timerFires)
        show("bytes", text.bytes, "wake-ups", wakeUps)
        showLast("time", time.inSeconds, "commands", commands)
    }

    private func show(_ left: String, _ count: Int, _ right: String, _ other: Int) {
        showLast(left, count.grouped, right, other)
    }

    private func showLast(_ left: String, _ count: String, _ right: String, _ other: Int) {
        Screen.line(
            "  " + left.rightPadded(to: 7) + count.leftPadded(to: 16) + "      "
                + right.rightPadded(to: 12) + other.grouped.leftPadded(to: 12)
        )
    }
}
