#if DEBUG
import Glibc
import TestSupport
import Testing
import UVRunLoop

/// The warning of items that are released without ever having been added to a loop: each test in a
/// process of its own, because the listener gets the warnings of a whole process.
@Suite(.timeLimit(.minutes(15))) struct UnusedItemTests {
    @Test func itemsThatWereNeverAddedAreTold() {
        let pipe = Pipe()
        let told = warnings {
            _ = UVRunLoop.Timer(after: .zero) { _ in }
            _ = UVRunLoop.Observer(activities: .all) { _, _ in }
            _ = UVRunLoop.Source { _ in }
            _ = UVRunLoop.Port { _, _ in }
            _ = try? UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in }
            _ = try? UVRunLoop.SignalSource(SIGUSR1) { _, _ in }
        }
        let kinds = [
            "a timer", "an observer", "a source", "a port", "a descriptor source",
            "a signal source",
        ]
        #expect(told == kinds.map { "UVRunLoop: \($0) was released" })
    }

    @Test func itemsThatWereUsedAreNot() {
        let told = warnings {
            let loop = UVRunLoop.current
            let timer = UVRunLoop.Timer(after: .seconds(1_000)) { _ in }
            let source = UVRunLoop.Source { _ in }
            let observer = UVRunLoop.Observer(activities: .all) { _, _ in }
            let port = UVRunLoop.Port { _, _ in }
            loop.add(timer, forMode: .default)
            loop.add(source, forMode: .default)
            loop.add(observer, forMode: .default)
            loop.add(port, forMode: .default)
            loop.remove(timer, forMode: .default)
            loop.remove(source, forMode: .default)
            loop.remove(observer, forMode: .default)
            loop.remove(port, forMode: .default)
            loop.requestPerform {}
            loop.run(for: .zero)
        }
        #expect(told == [])
    }

    @Test func itemsThatWereInvalidatedAreNot() {
        let told = warnings {
            UVRunLoop.Timer(after: .zero) { _ in }.invalidate()
            UVRunLoop.Timer(after: .zero, interval: .zero) { _ in }.fire()
            UVRunLoop.Observer(activities: .all) { _, _ in }.invalidate()
            UVRunLoop.Source { _ in }.invalidate()
            UVRunLoop.Port { _, _ in }.invalidate()
        }
        #expect(told == [])
    }

    @Test func theWarningsCanBeTurnedOff() {
        let told = warnings {
            UVRunLoop.warnsOfUnusedItems = false
            _ = UVRunLoop.Source { _ in }
            UVRunLoop.warnsOfUnusedItems = true
            _ = UVRunLoop.Timer(after: .zero) { _ in }
        }
        #expect(told == ["UVRunLoop: a timer was released"])
    }

    @Test func theWarningIsALineOfStandardError() async {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) { useNoTimer() }
        #expect(
            says("UVRunLoop: a timer was released that was never", result?.standardErrorContent)
        )
    }
}

private func useNoTimer() {
    UVRunLoop.warnsOfUnusedItems = true
    _ = UVRunLoop.Timer(after: .zero) { _ in }
}

/// The beginnings of the warnings that a body causes, in a forked child.
private func warnings(_ body: () -> Void) -> [String] {
    let pipe = Pipe()
    let status = inChild {
        let log = EventLog()
        UVRunLoop.warnsOfUnusedItems = true
        UnusedItems.setListener { warning in
            log.note(warning)
            return true
        }
        body()
        pipe.write(log.entries.joined(separator: "\n"))
        return 0
    }
    precondition(status == 0, "The child ended with \(status).")
    let lines = (pipe.read() ?? "").split(separator: "\n")
    return lines.map { line in
        line.firstRange(of: " that was").map { String(line[..<$0.lowerBound]) } ?? String(line)
    }
}
#endif
