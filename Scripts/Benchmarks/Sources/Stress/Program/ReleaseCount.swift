import BenchSupport
import ArgumentParser
import Glibc
import UVRunLoop

/// Counts, for each kind of item, on which thread what its handler has captured is released, when
/// another thread is the one that has done with the item.
final class ReleaseCount: Sendable {
    private typealias Fate = CaptureTraffic.Fate

    /// How long to wait for the last ones.
    private static let patience: Int64 = 2_000_000_000
    /// How many items may be on their way.
    private static let window = 64

    private let count: Int

    init(count: Int) { self.count = count }

    /// The counts of the captures of one kind: made, released at home, and released elsewhere.
    private final class Score: Sendable {
        let made = Number()
        let atHome = Number()
        let elsewhere = Number()

        var released: Int { atHome.value + elsewhere.value }
    }

    func main() throws {
        Output.say(
            "of \(count) captures each, released on the handler's thread / elsewhere / never:"
        )
        var isWrong = false
        for kind in CapturedItem.Kind.allCases {
            for fate in Fate.allCases {
                let score = measure(kind, fate)
                let never = score.made.value - score.released
                Output.say(
                    Text.left("  \(kind), \(fate)", 34)
                        + "\(score.atHome.value) / \(score.elsewhere.value) / \(never)"
                )
                if score.elsewhere.value > 0 || never > 0 { isWrong = true }
            }
        }
        if isWrong { throw ExitCode(1) }
    }

    /// Makes items on a thread whose loop runs, and has two others do away with them.
    private func measure(_ kind: CapturedItem.Kind, _ fate: Fate) -> Score {
        let score = Score()
        let settings = Settings(
            seed: 1,
            threads: 1,
            outsiders: 2,
            time: 0,
            kinds: [],
            patience: 0,
            fault: nil
        )
        let outsiders = (0..<2).map { Outsider($0, settings, Tally()) }
        outsiders.forEach { $0.start() }
        PosixThread { [count] in
            Self.make(count, kind, fate, score, outsiders)
        }.join()
        outsiders.forEach { $0.end() }
        return score
    }

    private static func make(
        _ count: Int,
        _ kind: CapturedItem.Kind,
        _ fate: Fate,
        _ score: Score,
        _ outsiders: [Outsider]
    ) {
        let loop = UVRunLoop.current
        let keeper = UVRunLoop.Timer(after: .seconds(3_600)) { _ in }
        loop.add(keeper, forMode: .default)
        let channel = Channel(isSocket: false)
        for number in 0..<count {
            score.made.add()
            let capture = Capture { isAtHome in (isAtHome ? score.atHome : score.elsewhere).add() }
            let item = CapturedItem(kind, channel.readEnd, loop, capture)
            if fate != .leftAlone || !item.mayBeLeftAlone { item.add(to: loop) }
            outsiders[number % outsiders.count].hand { item.meet(fate, loop) }
            if fate == .invalidatedTwice { item.invalidate() }
            awaitReleases(until: window, loop, score)
        }
        awaitReleases(until: 0, loop, score)
        keeper.invalidate()
        close(channel.readEnd)
        close(channel.writeEnd)
    }

    /// Runs the loop, which mostly sleeps, until few enough captures are left.
    private static func awaitReleases(until most: Int, _ loop: UVRunLoop, _ score: Score) {
        let end = now() + patience
        while score.made.value - score.released > most, now() < end {
            loop.run(mode: .default, for: .milliseconds(1))
        }
    }
}
