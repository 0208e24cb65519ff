import Foundation
import Glibc
import TestSupport
import Testing
import UVRunLoop

/// What the end of a loop calls and releases may use Foundation, which ends with the thread, too.
@Suite(.timeLimit(.minutes(15))) struct ThreadEndTests {
    @Test func handlersMayUseFoundationAtTheEndOfAThread() async {
        await #expect(processExitsWith: .success) {
            let log = EventLog()
            startThread {
                _ = Foundation.RunLoop.current
                let loop = UVRunLoop.current
                let source = UVRunLoop.Source(
                    cancel: { _, _ in log.note(String(format: "cancelled %d", 1)) },
                    sendablePerform: { _ in }
                )
                loop.add(source, forMode: .default)
                let timer = UVRunLoop.Timer(after: .seconds(900)) { [end = Note(log)] _ in
                    withExtendedLifetime(end) {}
                }
                loop.add(timer)
                loop.perform { [end = Note(log)] in withExtendedLifetime(end) {} }
            }.join()
            precondition(
                log.entries.sorted() == ["cancelled 1", "released 2", "released 2"],
                "\(log.entries)"
            )
        }
    }
}

private final class Note: Sendable {
    private let log: EventLog

    init(_ log: EventLog) { self.log = log }

    deinit {
        _ = Foundation.RunLoop.current
        log.note(String(format: "released %d", 2))
    }
}
