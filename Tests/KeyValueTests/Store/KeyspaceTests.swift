import TestSupport
import Testing

@testable import KeyValue

@Suite(.timeLimit(.minutes(15))) struct KeyspaceTests {
    private let now = WallTime(milliseconds: 1000)
    private func later(_ milliseconds: Int) -> WallTime {
        WallTime(milliseconds: now.milliseconds + milliseconds)
    }

    @Test func randomWorkAgreesWithADictionary() {
        var random = SeededGenerator(seed: 42)
        var keyspace = Keyspace()
        var model: [String: String] = [:]
        for step in 0..<60_000 {
            // The number of keys grows and shrinks, so that the index grows and closes gaps.
            let wantsMore = step / 10_000 % 2 == 0
            let key = "key:\(Int.random(in: 0..<5000, using: &random))"
            if Int.random(in: 0..<10, using: &random) < (wantsMore ? 8 : 3) {
                keyspace.set(bytes(key), to: bytes("\(step)"), at: now)
                model[key] = "\(step)"
            } else {
                let wasThere = keyspace.remove(bytes(key), at: now)
                #expect(wasThere == (model.removeValue(forKey: key) != nil))
            }
            #expect(keyspace.count == model.count)
        }
        for number in 0..<5000 {
            let key = "key:\(number)"
            let slot = keyspace.slot(of: bytes(key), at: now)
            #expect(slot.map { keyspace.value(of: $0) } == model[key].map { Array($0.utf8) })
        }
    }

    @Test func aKeyIsGoneAtItsDateAndNotBefore() {
        var keyspace = Keyspace()
        keyspace.set(bytes("k"), to: bytes("v"), expiry: later(10), at: now)
        #expect(keyspace.slot(of: bytes("k"), at: later(9)) != nil)
        #expect(keyspace.slot(of: bytes("k"), at: later(10)) == nil)
        #expect(keyspace.count == 0)
        #expect(keyspace.expiredCount == 1)
    }

    @Test func aNewValueForgetsTheOldDateUnlessAsked() {
        var keyspace = Keyspace()
        keyspace.set(bytes("k"), to: bytes("1"), expiry: later(10), at: now)
        let slot = keyspace.set(bytes("k"), to: bytes("2"), expiry: nil, at: now)
        #expect(keyspace.expiry(of: slot) == later(10))
        keyspace.set(bytes("k"), to: bytes("3"), at: now)
        #expect(keyspace.expiry(of: slot) == .never)
        #expect(keyspace.soonestExpiry == nil)
    }

    @Test func datesComeInOrderHoweverTheyChange() {
        var random = SeededGenerator(seed: 3)
        var queue = ExpiryQueue()
        var model: [Int: Int] = [:]
        for _ in 0..<20_000 {
            let slot = Int.random(in: 0..<300, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                queue.remove(slot)
                model[slot] = nil
            } else {
                let date = Int.random(in: 0..<1000, using: &random)
                queue.set(slot, to: WallTime(milliseconds: date))
                model[slot] = date
            }
            #expect(queue.count == model.count)
            #expect(queue.first?.date.milliseconds == model.values.min())
        }
        while let (slot, date) = queue.first {
            #expect(model.removeValue(forKey: slot) == date.milliseconds)
            #expect(model.values.allSatisfy { $0 >= date.milliseconds })
            queue.remove(slot)
        }
        #expect(model.isEmpty)
    }

    @Test func dueKeysAreRemovedOldestFirstAndInBatches() {
        var keyspace = Keyspace()
        for number in 1...100 {
            keyspace.set(bytes("\(number)"), to: bytes(""), expiry: later(number), at: now)
        }
        keyspace.removeExpired(at: later(50), limit: 20)
        #expect(keyspace.count == 80)
        #expect(keyspace.soonestExpiry == later(21))
        keyspace.removeExpired(at: later(50), limit: 1000)
        #expect(keyspace.count == 50)
    }

    @Test func aScanShowsEveryKeyThatStaysExactlyOnce() {
        var random = SeededGenerator(seed: 11)
        var keyspace = Keyspace()
        for number in 0..<2000 {
            keyspace.set(bytes("stays:\(number)"), to: bytes(""), at: now)
            keyspace.set(bytes("goes:\(number)"), to: bytes(""), at: now)
        }
        var seen: [[UInt8]: Int] = [:]
        var cursor = 0
        repeat {
            cursor = keyspace.scan(from: cursor, slots: 10, at: now) {
                seen[$0.key, default: 0] += 1
            }
            // Meanwhile other keys are added and removed, and the index grows.
            for _ in 0..<20 {
                let number = Int.random(in: 0..<20_000, using: &random)
                keyspace.set(bytes("comes:\(number)"), to: bytes(""), at: now)
                _ = keyspace.remove(bytes("goes:\(number % 2000)"), at: now)
            }
        } while cursor != 0
        for number in 0..<2000 { #expect(seen[Array("stays:\(number)".utf8)] == 1) }
    }

    @Test func aSnapshotDoesNotChangeWithTheKeyspace() {
        var keyspace = Keyspace()
        for number in 0..<1000 {
            keyspace.set(bytes("\(number)"), to: bytes("old"), at: now)
        }
        let snapshot = keyspace.snapshot(at: now)
        for number in 0..<1000 where number % 2 == 0 {
            keyspace.set(bytes("\(number)"), to: bytes("new"), at: now)
        }
        keyspace.removeAll()
        let entries = snapshot.pages.joined().compactMap(\.self)
        #expect(entries.count == 1000)
        #expect(entries.allSatisfy { $0.value == Array("old".utf8) })
    }
}
