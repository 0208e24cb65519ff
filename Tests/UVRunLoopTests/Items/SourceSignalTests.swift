import Testing

@testable import UVRunLoop

/// What another thread may do between two locks while a loop takes a signal.
@Suite(.timeLimit(.minutes(15))) struct SourceSignalTests {
    private let other = UVRunLoop.Mode("source signals, other")

    private func takeSignal(during action: (UVRunLoop, UVRunLoop.Source) -> Void) {
        withLoop { loop in
            let source = UVRunLoop.Source { _ in }
            loop.add(source, forMode: .default)
            source.signal()
            let ticket = loop.withEngine { $0.takeSignalled(in: 0)?.ticket }
            action(loop, source)
            #expect(source.takeSignal(clearedIn: loop, ticket ?? .none))
            // Nothing is left that would end a sleep.
            #expect(loop.withEngine { $0.signalledCount } == 0)
            let left = loop.withEngine { $0.takeSignalled(in: 0)?.ticket }
            #expect(left == nil)
            source.signal()
            #expect(loop.withEngine { $0.signalledCount } == 1)
            source.invalidate()
        }
    }

    @Test func aSourceThatIsTakenOutAndPutBackHasNoSignalLeft() {
        takeSignal { loop, source in
            loop.remove(source, forMode: .default)
            loop.add(source, forMode: .default)
        }
    }

    @Test func aSourceThatJoinsAnotherModeHasNoSignalLeft() {
        takeSignal { loop, source in loop.add(source, forMode: other) }
    }

    @Test func aSourceThatIsLeftAloneHasNoSignalLeft() { takeSignal { _, _ in } }
}
