import UVRunLoop

/// Prints the first passes of a run loop as a table, and counts all of them.
///
/// An observer of all activities (Listing 3-1) sees steps 1, 2, 3, 6, 8 and 10. The handlers of the
/// sources and of the timer report steps 4, 5 and 9.
final class PassTable {
    private(set) var passes = 0
    private(set) var wakeUps = 0
    private let passesToShow: Int

    private var latest: UVRunLoop.Activities = .entry
    private var fellAsleep: UVRunLoop.Instant?
    private var passOfLastRow = 0
    private var hasFiredCustomSource = false
    private var hasDeliveredEvent = false

    init(passesToShow: Int) { self.passesToShow = passesToShow }

    /// Whether rows are still being printed.
    var isOpen: Bool { passes <= passesToShow }

    func attach(to loop: UVRunLoop) {
        let observer = UVRunLoop.Observer(
            activities: .all,
            handler: { _, activity in self.note(activity, now: loop.now) }
        )
        observer.label = "table"
        loop.add(observer, forMode: .default)
    }

    // MARK: Steps that are notified

    private func note(_ activity: UVRunLoop.Activities, now: UVRunLoop.Instant) {
        switch activity {
        case .entry:
            printHead()
            row("1", "the run begins")
        case .beforeTimers:
            completePass()
            beginPass()
            row("2", "timers are about to be checked")
        case .beforeSources:
            row("3", "custom sources are about to be checked")
        case .beforeWaiting:
            fellAsleep = now
            row("6", "no event is ready: about to sleep")
        case .afterWaiting:
            wakeUps += 1
            if let fellAsleep {
                row("7", Screen.dim("asleep for \(fellAsleep.duration(to: now).inMilliseconds)"))
            }
            row("8", "just woke up")
        case .exit:
            completePass()
            printLastRow()
        default:
            break
        }
        latest = activity
    }

    private func beginPass() {
        passes += 1
        hasFiredCustomSource = false
        hasDeliveredEvent = false
        if passes == passesToShow + 1 { printProgressHead() }
    }

    /// Prints the rows that are known only once a pass is over.
    private func completePass() {
        if latest == .afterWaiting && !hasDeliveredEvent {
            row("9", "nothing to deliver: it was an explicit wake-up")
        }
        if latest == .beforeSources && hasFiredCustomSource && !hasDeliveredEvent {
            row("6-8", Screen.dim("left out, because step 4 had work"))
        }
    }

    // MARK: Steps reported by the handlers

    func noteCustomSource(_ text: String) {
        hasFiredCustomSource = true
        row("4", text)
    }

    func notePort(_ text: String) {
        // Without a sleep in between, the event was already ready in step 5.
        if latest == .beforeSources && !hasDeliveredEvent {
            row("5", "a port-based source is ready: on to step 9")
        }
        noteEvent(text)
    }

    func noteTimer(_ text: String) { noteEvent(text) }

    private func noteEvent(_ text: String) {
        hasDeliveredEvent = true
        row("9", text)
    }

    // MARK: Printing

    private func printHead() {
        Screen.line(Screen.bold("The first \(passesToShow) passes, by the steps of Apple's guide"))
        Screen.line()
        Screen.line(Screen.dim("  pass  step  what happens"))
        Screen.line(Screen.dim("  ----  ----  " + String(repeating: "-", count: 58)))
    }

    private func printProgressHead() {
        Screen.line()
        let title = "And so on: progress, when the timer fires or the main thread asks"
        Screen.line(Screen.bold(title))
        Screen.line()
    }

    private func printLastRow() {
        if !isOpen {
            // Rows were left out: start again with the number of this pass.
            Screen.line()
            passOfLastRow = 0
        }
        printRow("10", "the run ends")
    }

    private func row(_ step: String, _ text: String) {
        if isOpen { printRow(step, text) }
    }

    private func printRow(_ step: String, _ text: String) {
        let isFirstOfPass = passOfLastRow != passes
        passOfLastRow = passes
        let pass = isFirstOfPass ? passes.grouped : ""
        Screen.line(
            pass.leftPadded(to: 6) + "  " + Screen.bold(step.leftPadded(to: 4)) + "  " + text
        )
    }
}
