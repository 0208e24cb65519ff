import RandomPrograms
import Testing

/// The shrinker, which makes a failing program readable.
@Suite(.timeLimit(.minutes(15)))
struct ShrinkerTests {
    @Test func whatDoesNotMatterGoes() {
        let program = Generator.program(seed: 1, for: .virtual)
        let stops = Program(items: program.items, actions: program.actions + [.stop])
        var shrinker = Shrinker { $0.actions.contains(.stop) }
        #expect(shrinker.shrink(stops) == Program(items: [], actions: [.stop]))
    }

    @Test func itemsThatAreNamedStay() {
        let program = Program(
            items: [Item(.block), Item(.source(order: 1)), Item(.block)],
            actions: [.signal(1), .perform(2, [.main])]
        )
        var shrinker = Shrinker {
            $0.actions.contains { if case .signal = $0 { true } else { false } }
        }
        let expected = Program(items: [Item(.source(order: 0))], actions: [.signal(0)])
        #expect(shrinker.shrink(program) == expected)
    }

    @Test func aProgramIsPrintedAsSwift() {
        let program = Program(
            items: [Item(.timer(at: 5, interval: nil, tolerance: 0), [[.pass(3)], [.wakeUp]])],
            actions: [.add(0, .first), .run(.main, limit: nil, returnsAfterSource: true)],
            visits: [Visit(at: 2, [.perform(0, [.main, .common])])]
        )
        let text = SwiftText.test(of: program)
        let lines = [
            "Item(.timer(at: 5, interval: nil, tolerance: 0), [[.pass(3)], [.wakeUp]]),",
            ".add(0, .first),",
            ".run(.main, limit: nil, returnsAfterSource: true),",
            "Visit(at: 2, [.perform(0, [.main, .common])]),",
        ]
        for line in lines { #expect(text.contains(line)) }
    }
}
