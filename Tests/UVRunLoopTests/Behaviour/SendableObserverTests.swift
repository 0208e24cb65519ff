import TestSupport
import Testing
import UVRunLoop

/// Observers whose handlers any thread may call; the rules are those of all observers.
@Suite(.timeLimit(.minutes(15))) struct SendableObserverTests {
    @Test func aSendableOneIsCalledOnceAndNotAfterItsInvalidation() {
        withLoop(.uv) { loop, log in
            let second = UVRunLoop.Observer(
                activities: .entry,
                order: 1,
                sendableHandler: { _, _ in log.note("second") }
            )
            let first = UVRunLoop.Observer(
                activities: [.entry, .exit],
                repeats: false,
                sendableHandler: { _, activity in
                    log.note("first")
                    second.invalidate()
                    // It is never called from within its own call.
                    if activity == .entry { loop.run(mode: .default, for: .zero) }
                }
            )
            let timer = UVRunLoop.Timer(after: .seconds(3_600), handler: { _ in })
            loop.add(timer, forMode: .default)
            for observer in [first, second] { loop.add(observer, forMode: .default) }
            for _ in 1...2 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries == ["first"])
            #expect(!first.isValid)
            timer.invalidate()
        }
    }
}
