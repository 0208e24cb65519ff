import Glibc
import UVRunLoop

/// Counts the text on a thread with a run loop of its own.
///
/// Made and used on the worker thread only, so the handlers below need no lock.
final class Worker {
    private let loop = UVRunLoop.current
    private let pipe: CInt
    private let reportInterval: Duration
    private let foreman: Foreman
    private let commands: CommandSource
    private let table: PassTable
    private let start: UVRunLoop.Instant

    private var pipeSource: UVRunLoop.DescriptorSource?
    private var progressTimer: UVRunLoop.Timer?
    private var progress = Progress()
    private var counter = TextCounter()
    private var buffer = [UInt8](repeating: 0, count: 16_384)
    private var timerFires = 0
    private var commandsDone = 0

    /// The thread's entry point: set up, run the loop, clean up (Listing 3-2).
    static func threadMain(
        reading pipe: CInt,
        reportingEvery interval: Duration,
        for foreman: Foreman
    ) {
        let worker = Worker(reading: pipe, reportingEvery: interval, for: foreman)
        worker.table.attach(to: worker.loop)
        worker.commands.addToCurrentRunLoop { worker.carryOut($0) }

        // One run, until stop() is called or the mode is empty.
        worker.loop.run(mode: .default, for: nil)

        close(pipe)
        let summary = worker.summary
        foreman.onMainThread { $0.workerDidEnd(summary) }
    }

    private init(reading pipe: CInt, reportingEvery interval: Duration, for foreman: Foreman) {
        self.pipe = pipe
        reportInterval = interval
        self.foreman = foreman
        commands = CommandSource(client: foreman)
        loop.label = "worker"
        start = loop.now
        table = PassTable(passesToShow: 4)
    }

    /// Step 4 of a pass: the custom source fired; this is one of its commands.
    private func carryOut(_ command: Command) {
        commandsDone += 1
        table.noteCustomSource("custom source fires: the main thread says \"\(command.rawValue)\"")
        switch command {
        case .start:
            watchPipe()
            startTimer()
        case .report:
            progress.show("asked", at: elapsed, counter, unless: table.isOpen)
        case .finish:
            progressTimer?.invalidate()
            commands.invalidate()
            loop.stop()
        }
    }

    // MARK: The pipe, a port-based source

    private func watchPipe() {
        // Non-blocking, so that reading until the pipe is empty does not block the thread.
        _ = fcntl(pipe, F_SETFL, fcntl(pipe, F_GETFL) | O_NONBLOCK)
        do {
            let source = try UVRunLoop.DescriptorSource(
                pipe,
                events: .readable,
                handler: { _, events in self.readPipe(events) }
            )
            source.label = "pipe"
            pipeSource = source
            loop.add(source, forMode: .default)
        } catch {
            fail("cannot watch the pipe: \(error)")
        }
    }

    /// Step 9 of a pass: the pipe is readable.
    ///
    /// The source is level-triggered, so a handler may stop early and let other sources run: after
    /// 64 KiB here. After a hang-up it reads to the end, because that event is the source's last.
    private func readPipe(_ events: UVRunLoop.DescriptorSource.Events) {
        let isLastEvent = events.contains(.hangUp)
        var received = 0
        var hasEnded = isLastEvent

        reading: while isLastEvent || received < 65_536 {
            switch read(from: pipe, into: &buffer) {
            case .bytes(let count):
                counter.count(buffer[..<count])
                received += count
            case .nothingYet:
                break reading
            case .end:
                hasEnded = true
                break reading
            case .failed(let code):
                fail("cannot read from the pipe: \(reason(code))")
            }
        }

        if received > 0 { table.notePort("the pipe is readable: \(received.of("byte"))") }
        if hasEnded { inputDidEnd() }
    }

    private func inputDidEnd() {
        table.notePort("the pipe is at its end")
        pipeSource?.invalidate()
        progress.show("end", at: elapsed, counter, unless: table.isOpen)
        foreman.onMainThread { $0.inputDidEnd() }
    }

    // MARK: The timer

    /// First a short delay, then a longer interval, as in Listing 3-10.
    private func startTimer() {
        let timer = UVRunLoop.Timer(
            after: .milliseconds(60),
            interval: reportInterval,
            handler: { _ in self.timerDidFire() }
        )
        timer.label = "progress"
        progressTimer = timer
        loop.add(timer, forMode: .default)
    }

    /// Step 9 of a pass: the timer's date has come.
    private func timerDidFire() {
        timerFires += 1
        table.noteTimer("the timer fires: \(counter.lines.of("line")) so far")
        progress.show("timer", at: elapsed, counter, unless: table.isOpen)
    }

    // MARK: Figures

    private var elapsed: Duration { start.duration(to: loop.now) }

    private var summary: Summary {
        Summary(
            text: counter,
            passes: table.passes,
            timerFires: timerFires,
            wakeUps: table.wakeUps,
            commands: commandsDone,
            time: elapsed
        )
    }
}
