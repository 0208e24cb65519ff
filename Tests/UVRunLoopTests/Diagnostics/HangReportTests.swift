import Glibc
import Testing

@testable import UVRunLoop

/// Hangs in words: as a line of text, and on the standard error.
@Suite(.timeLimit(.minutes(15))) struct HangReportTests {
    @Test func aHangPrintsItsLoopItsItemAndItsTime() throws {
        let hang = try hang(as: "planner") { loop, wait in
            let source = UVRunLoop.Source { _ in wait() }
            source.label = "work"
            loop.add(source)
            source.signal()
        }
        let words =
            "UVRunLoop \"planner\" has been in the handler of \(try #require(hang.item)) for "
        #expect("\(hang)".hasPrefix(words))
        #expect(hang.item?.hasPrefix("Source \"work\"") == true)
        #expect("\(hang)".split(separator: "\n").count == 1)
    }

    @Test func aHangInABlockPrintsTheKindOfItsHandler() throws {
        let hang = try hang(as: nil) { loop, wait in loop.performLocally { wait() } }
        #expect("\(hang)".hasPrefix("UVRunLoop has been in the handler of a block for "))
    }

    @Test func aTimerThatHasInvalidatedItselfKeepsItsLabelInTheReport() throws {
        let hang = try hang(as: nil) { loop, wait in
            let timer = UVRunLoop.Timer(after: .zero) { timer in
                timer.invalidate()
                wait()
            }
            timer.label = "last poll"
            loop.add(timer)
        }
        #expect(hang.kind == .timer && hang.label == "last poll")
        #expect(hang.item == "Timer \"last poll\"")
    }

    @Test func aMonitorWithoutAHandlerReportsOnTheStandardError() async {
        await #expect(processExitsWith: .success) {
            let (reports, standardError) = (Pipe(), dup(STDERR_FILENO))
            dup2(reports.writeEnd, STDERR_FILENO)
            let monitor = try UVRunLoop.Monitor(threshold: .milliseconds(30))
            let lines = SharedBox<[String]>([])
            onAnotherThread {
                let loop = UVRunLoop.current
                loop.label = "planner"
                let timer = UVRunLoop.Timer(after: .zero) { _ in
                    lines.value.append(reports.readWaiting(65_536))
                }
                timer.label = "poll"
                loop.add(timer)
                loop.run()
            }
            lines.value.append(reports.readWaiting(65_536))
            monitor.stop()
            dup2(standardError, STDERR_FILENO)
            let beginning = "UVRunLoop \"planner\" has been in the handler of Timer \"poll\": "
            precondition(lines.value.allSatisfy { $0.hasPrefix(beginning) && $0.hasSuffix("\n") })
            // The stack is in the first one.
            precondition(lines.value[0].contains(": 0x"), lines.value[0])
            precondition(lines.value[1].hasSuffix(", and has ended\n"), lines.value[1])
        }
    }
}

/// The report of a handler that hangs, in the loop of a new thread, until it is reported.
private func hang(
    as label: String?,
    _ setUp: @escaping @Sendable (UVRunLoop, @escaping () -> Void) -> Void
) throws -> UVRunLoop.Hang {
    let (loop, report) = (SharedBox<UVRunLoop?>(nil), SharedBox<UVRunLoop.Hang?>(nil))
    let isReported = Signal()
    let monitor = try UVRunLoop.Monitor(threshold: .milliseconds(30)) { event in
        guard case .began(let hang) = event, hang.loop === loop.value else { return }
        report.value = hang
        isReported.send()
    }
    onAnotherThread {
        loop.value = .current
        UVRunLoop.current.label = label
        setUp(.current) {
            isReported.wait()
            UVRunLoop.current.stop()
        }
        UVRunLoop.current.run()
    }
    monitor.stop()
    return try #require(report.value)
}
