import Glibc
import UVRunLoop

/// A tour of a run loop: a worker thread counts a text that arrives through a pipe.
///
/// Three threads take part. The main thread runs its own loop and sends commands (`Foreman`), a
/// worker runs the loop that the tour shows (`Worker`), and a third thread without a loop copies
/// the text into the worker's pipe (`InputPump`).
@main
enum Tour {
    @MainActor
    static func main() {
        occupyStandardDescriptors()
        let options = Options(arguments: CommandLine.arguments.dropFirst())
        let input = Input.open(options.text)
        let pipe = Pipe()

        Screen.line(Screen.bold("A tour of UVRunLoop"))
        Screen.line("A worker thread counts lines, words and bytes of a text from a pipe.")
        Screen.line("Text: \(input.name)")
        Screen.line()

        let foreman = Foreman()
        let pump = InputPump(from: input, to: pipe.writeEnd)
        let pumpThread = Thread { pump.run() }
        let workerThread = Thread {
            Worker.threadMain(
                reading: pipe.readEnd,
                reportingEvery: input.reportInterval,
                for: foreman
            )
        }

        let summary = foreman.run()

        workerThread.join()
        pumpThread.join()
        summary?.show()
        if pump.failure != 0 {
            fail("cannot read \(input.name) to its end: \(reason(pump.failure))")
        }
    }
}
