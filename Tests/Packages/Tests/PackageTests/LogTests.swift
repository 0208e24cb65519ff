import Glibc
import Logging
import Synchronization
import Testing
import UVRunLoop
import UVRunLoopLogs

/// The log messages of swift-log about loops.
@Suite(.timeLimit(.minutes(15))) struct LogTests {
    @Test func aHangIsLoggedWhenItBeginsAndWhenItEnds() throws {
        let messages = Messages()
        let logs = try UVRunLoop.Logs(messages.logger, hangThreshold: .milliseconds(50))
        let thread = try UVRunLoop.Thread(name: "slow")
        let timer = UVRunLoop.Timer(
            after: .zero,
            sendableHandler: { _ in messages.await { $0.hasPrefix("warning UVRunLoop \"slow\"") } }
        )
        timer.label = "poll"
        thread.runLoop.add(timer)
        messages.await { $0.hasPrefix("notice UVRunLoop \"slow\"") }
        logs.stop()
        thread.stop()
        thread.join()
        let lines = messages.lines.filter { $0.contains("\"slow\"") }
        #expect(lines.count == 2)
        #expect(
            lines.first?.hasPrefix("warning UVRunLoop \"slow\" has been in the handler of ") == true
        )
        #expect(lines.first?.contains("Timer \"poll\"") == true)
        #expect(lines.last?.hasSuffix(", and has ended") == true)
    }

    @Test func theFirstRunInAnUnknownModeIsLogged() throws {
        let messages = Messages()
        let logs = try UVRunLoop.Logs(messages.logger, hangThreshold: nil)
        let thread = try UVRunLoop.Thread(name: "typo") {
            // It returns at once, too, but because it names several modes.
            UVRunLoop.current.run(mode: .common, for: .zero)
            for _ in 0..<3 {
                for mode in ["defualt", "comon"] {
                    UVRunLoop.current.run(mode: UVRunLoop.Mode(mode), for: .zero)
                }
            }
        }
        messages.await { $0.contains("comon") }
        thread.stop()
        thread.join()
        logs.stop()
        #expect(
            messages.lines.filter { $0.contains("typo") }
                == ["defualt", "comon"].map {
                    "notice A run in the mode \($0) has returned at once, because nothing was ever added to it. [loop: typo]"
                }
        )
    }
}

/// Keeps what is logged.
private final class Messages: Sendable {
    private let content = Mutex<[String]>([])

    var lines: [String] { content.withLock { $0 } }

    var logger: Logger { Logger(label: "loops") { _ in Handler(messages: self) } }

    /// Waits for a line.
    func await(_ isExpected: (String) -> Bool) {
        while !lines.contains(where: isExpected) { usleep(1_000) }
    }

    private struct Handler: LogHandler {
        let messages: Messages
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let loop = event.metadata?["loop"].map { " [loop: \($0)]" } ?? ""
            messages.content.withLock { $0.append("\(event.level) \(event.message)\(loop)") }
        }
    }
}
