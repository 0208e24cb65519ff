import Glibc
import UVRunLoop

/// The operations as this library does them.
enum OurOperations {
    static func run(_ operation: Operation, _ count: Int) {
        let loop = UVRunLoop.current
        let keeper = UVRunLoop.Source { _ in }
        loop.add(keeper, forMode: .default)
        let tally = Tally(count) { loop.stop() }
        let sender = PacedSender(tally)
        switch operation {
        case .pass:
            for _ in 0..<count { loop.run(mode: .default, for: .zero) }
        case .repeating:
            repeatTimer(.milliseconds(1), tolerance: .zero, tally)
        case .tolerant:
            let interval = Duration.nanoseconds(Operation.tolerantInterval)
            repeatTimer(interval, tolerance: .nanoseconds(Operation.tolerance), tally)
        case .oneShot:
            addOneShot(tally)
            loop.run()
        case .signal:
            signalAgainAndAgain(sender, count)
        case .block:
            sender.start(count) { loop.perform { sender.noteHandled() } }
            loop.run()
        case .job: break
        }
    }

    private static func repeatTimer(_ interval: Duration, tolerance: Duration, _ tally: Tally) {
        let timer = UVRunLoop.Timer(after: interval, interval: interval, tolerance: tolerance) {
            _ in tally.add()
        }
        UVRunLoop.current.add(timer, forMode: .default)
        UVRunLoop.current.run()
    }

    private static func addOneShot(_ tally: Tally) {
        let timer = UVRunLoop.Timer(after: .nanoseconds(Operation.delay)) { _ in
            tally.add()
            if tally.left > 0 { addOneShot(tally) }
        }
        UVRunLoop.current.add(timer, forMode: .default)
    }

    private static func signalAgainAndAgain(_ sender: PacedSender, _ count: Int) {
        let loop = UVRunLoop.current
        let source = UVRunLoop.Source { _ in sender.noteHandled() }
        loop.add(source, forMode: .default)
        sender.start(count) {
            source.signal()
            loop.wakeUp()
        }
        loop.run()
    }
}
