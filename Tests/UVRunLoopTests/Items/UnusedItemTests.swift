#if DEBUG
import Glibc
import TestSupport
import Testing
import UVRunLoop

/// The warning of items that are released without ever having been added to a loop: each test in a
/// process of its own, because the listener gets the warnings of a whole process.
@Suite(.timeLimit(.minutes(15))) struct UnusedItemTests {
    @Test func itemsThatWereNeverAddedAreTold() async {
        await #expect(processExitsWith: .success) { dropUnusedItems() }
    }

    @Test func itemsThatWereUsedAreNot() async {
        await #expect(processExitsWith: .success) { useItems() }
    }

    @Test func itemsThatWereInvalidatedAreNot() async {
        await #expect(processExitsWith: .success) { invalidateItems() }
    }

    @Test func itemsOfTheLibraryThatWereNotAddedForWantOfDescriptorsAreNot() async {
        await #expect(processExitsWith: .success) { runOutOfDescriptors() }
    }

    @Test func theWarningsCanBeTurnedOff() async {
        await #expect(processExitsWith: .success) { turnWarningsOff() }
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

private func dropUnusedItems() {
    let pipe = Pipe()
    let kinds = [
        "a timer", "an observer", "a source", "a port", "a descriptor source", "a signal source",
    ]
    expect(kinds.map { "UVRunLoop: \($0) was released" }) {
        _ = UVRunLoop.Timer(after: .zero) { _ in }
        _ = UVRunLoop.Observer(activities: .all) { _, _ in }
        _ = UVRunLoop.Source { _ in }
        _ = UVRunLoop.Port { _, _ in }
        _ = try? UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in }
        _ = try? UVRunLoop.SignalSource(SIGUSR1) { _, _ in }
    }
}

private func useItems() {
    expect([]) {
        onAnotherThread {
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
    }
}

private func invalidateItems() {
    expect([]) {
        UVRunLoop.Timer(after: .zero) { _ in }.invalidate()
        UVRunLoop.Timer(after: .zero, interval: .zero) { _ in }.fire()
        UVRunLoop.Observer(activities: .all) { _, _ in }.invalidate()
        UVRunLoop.Source { _ in }.invalidate()
        UVRunLoop.Port { _, _ in }.invalidate()
    }
}

private func runOutOfDescriptors() {
    expect([]) {
        let loop = UVRunLoop.current
        let table = FullTable()
        for count in 0..<8 {
            table.leave(count)
            (try? loop.onTermination {})?.forEach { $0.invalidate() }
        }
        table.clear()
    }
}

private func turnWarningsOff() {
    expect(["UVRunLoop: a timer was released"]) {
        UVRunLoop.warnsOfUnusedItems = false
        _ = UVRunLoop.Source { _ in }
        UVRunLoop.warnsOfUnusedItems = true
        _ = UVRunLoop.Timer(after: .zero) { _ in }
    }
}

/// Traps unless a body causes warnings that begin so.
private func expect(_ expected: [String], _ body: () -> Void) {
    let log = EventLog()
    UVRunLoop.warnsOfUnusedItems = true
    UnusedItems.setListener { warning in
        log.note(warning)
        return true
    }
    body()
    let told = log.entries.map { line in
        line.firstRange(of: " that was").map { String(line[..<$0.lowerBound]) } ?? line
    }
    precondition(told == expected, "\(told)")
}
#endif
