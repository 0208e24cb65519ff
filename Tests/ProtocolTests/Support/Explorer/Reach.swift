/// Which threads of a script can reach what, as bits by thread; bit 0 is the loop.
///
/// It says which messages may be forgotten, and which steps need not be tried in every order. For a
/// mutant, which may do what the library does not, it is generous.
struct Reach {
    private(set) var loaders: Memory.Loaders
    /// By word: who changes it.
    private var writers: [UInt8]
    /// By word: who reads it where others may change it.
    private var readers: [UInt8]
    /// By lock.
    private var lockers: [UInt8]
    private let isMutant: Bool

    init(_ script: Script, _ mutant: Mutant?) {
        func senders(_ operations: [Operation]) -> UInt8 {
            script.senders.enumerated().reduce(0) { bits, sender in
                Set(operations).isDisjoint(with: sender.element)
                    ? bits : bits | 2 << UInt8(sender.offset)
            }
        }
        let posting = senders([.postFirst, .postSecond])
        let changing = senders([.signalFirst, .signalSecond, .change, .empty] + Operation.timers)
        let (stopping, ending) = (senders([.stop]), senders([.end]))
        let timing = senders(Operation.timers)
        isMutant = mutant != nil

        // The loop loads every word. Senders load the waking word after a post, in sequence; after a
        // change to a timer that word, the published one and the plan; and others only under the
        // lock that all stores to them are made under, where the latest message is all they find.
        loaders = Memory.Loaders(
            any: [UInt8](repeating: 1, count: Memory.mostWords),
            sequential: [UInt8](repeating: 0, count: Memory.mostWords)
        )
        loaders.sequential[World.Word.wake] = posting
        loaders.any[World.Word.wake] |= timing
        loaders.any[World.Word.published] |= timing
        for word in [World.Word.planEnd, World.Word.planVersion] { loaders.any[word] = timing }
        loaders.any[World.Word.tail] = 0
        loaders.sequential[World.Word.tail] = 1 | posting
        for mark in World.Word.mark..<World.Word.item {
            loaders.any[mark] = 0
            loaders.sequential[mark] = 1
        }
        if let fault = mutant?.fault { loaders.any[fault.location] = 255 }
        if mutant?.structure == .publishedAfterTheLock { loaders.any[World.Word.published] = 255 }

        writers = [UInt8](repeating: 255, count: Memory.mostWords)
        writers[World.Word.run] = 1 | stopping
        writers[World.Word.ending] = ending
        writers[World.Word.published] = 1 | changing
        for word in World.Word.tail..<World.Word.planEnd { writers[word] = 1 | posting }
        for word in World.Word.planEnd..<Memory.mostWords { writers[word] = 1 }
        readers = [UInt8](repeating: 1, count: Memory.mostWords)
        readers[World.Word.wake] = 255
        readers[World.Word.published] |= timing
        for word in World.Word.planEnd..<Memory.mostWords { readers[word] = timing }
        readers[World.Word.run] = 1 | stopping
        readers[World.Word.ending] = 1 | ending
        readers[World.Word.tail] = 1 | posting
        lockers = [UInt8](repeating: 255, count: Memory.mostLocks)
        lockers[World.segments] = 1 | posting
        lockers[World.engine] = 1 | changing
    }

    /// Whether a thread may load a word that has more than one message for it.
    func mayLoad(_ thread: Int, _ step: Step) -> Bool {
        let bit: UInt8 = 1 << UInt8(thread)
        return loaders.any[step.place] & bit != 0
            || (step.order == .sequential && loaders.sequential[step.place] & bit != 0)
    }

    /// Whether nothing that other threads may do before a step depends on it, nor it on that.
    ///
    /// No circle of a thread's steps is made of such steps alone while others run: every pass and
    /// every check before a sleep has accesses of the waking word.
    func isAlone(_ step: Step, _ thread: Int, running: UInt8) -> Bool {
        let others = running & ~(1 << UInt8(thread))
        switch step.kind {
        case .unlock: return true
        case .lock: return !isMutant && lockers[step.place] & others == 0
        case .load:
            // The published word is loaded in no order under the lock of the threads that store it.
            let isUnderLock = step.order == .relaxed && step.place == World.Word.published
            return !isMutant && (isUnderLock || writers[step.place] & others == 0)
        case .store, .exchange, .compareExchange, .or, .and, .add, .max:
            return !isMutant && (writers[step.place] | readers[step.place]) & others == 0
                || isPublicationByTheLoop(step, thread)
        case .write, .wait, .drain, .close: return false
        }
    }

    /// The stores of the loop to what it alone reads without the lock.
    private func isPublicationByTheLoop(_ step: Step, _ thread: Int) -> Bool {
        !isMutant && thread == 0 && step.kind == .store && step.place == World.Word.published
            && readers[World.Word.published] == 1
    }
}
