import RandomPrograms
import Testing

/// The model itself, on programs whose course the contract tells word by word.
@Suite(.timeLimit(.minutes(15)))
struct ModelTests {
    private static let millisecond: Int64 = 1_000_000

    @Test func aPassTakesItsTenStepsInOrder() {
        let program = Program(
            items: [
                Item(.observer(255, repeats: true, order: 0)),
                Item(.source(order: 0)),
                Item(.timer(at: Self.millisecond, interval: nil, tolerance: 0)),
            ],
            actions: [
                .add(0, .main), .add(2, .main),
                .run(.main, limit: nil, returnsAfterSource: false),
            ]
        )
        let trace = Model(program, isVirtual: true).trace()
        #expect(trace.compactMap(\.activity) == [1, 2, 4, 32, 64, 128])
        #expect(trace.last == .returned(1, Place(mode: nil, depth: 0, time: Self.millisecond)))
    }

    @Test func anEmptyModeDoesNotRun() {
        let program = Program(
            items: [Item(.observer(255, repeats: true, order: 0))],
            actions: [.add(0, .main), .run(.main, limit: nil, returnsAfterSource: false)]
        )
        let trace = Model(program, isVirtual: true).trace()
        #expect(trace == [.returned(1, Place(mode: nil, depth: 0, time: 0))])
    }

    @Test func aRepeatingTimerFoldsMissedDatesIntoOneFire() {
        let program = Program(
            items: [
                Item(.timer(at: 0, interval: Self.millisecond, tolerance: 0), [[.pass(3_500_000)]])
            ],
            actions: [
                .add(0, .main),
                .run(.main, limit: 4 * Self.millisecond, returnsAfterSource: false),
            ]
        )
        let trace = Model(program, isVirtual: true).trace()
        let place = Place(mode: .main, depth: 1, time: 0)
        let later = Place(mode: .main, depth: 1, time: 4 * Self.millisecond)
        #expect(trace.dropLast() == [.fired(0, missed: 0, place), .fired(0, missed: 3, later)])
    }
}

extension Event {
    fileprivate var activity: UInt? {
        if case .notified(_, let activity, _) = self { activity } else { nil }
    }
}
