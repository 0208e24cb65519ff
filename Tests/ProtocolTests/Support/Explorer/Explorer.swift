@testable import UVRunLoop

/// The operations of the threads in one exploration.
struct Script: Hashable, Sendable, CustomStringConvertible {
    var plan = LoopProgram.Plan()
    var senders: [[Operation]]
    /// How often a sleep may end although nobody has woken the loop.
    var spuriousWakes: UInt8 = 0

    var description: String {
        let words = senders.map { "[" + $0.map { ".\($0)" }.joined(separator: ", ") + "]" }
        return
            "Script(plan: .init(nested: .\(plan.nested), place: .\(plan.place), hasTimers: \(plan.hasTimers), hasLimit: \(plan.hasLimit)), senders: [\(words.joined(separator: ", "))]"
            + ", spuriousWakes: \(spuriousWakes))"
    }
}

/// The result of an exploration.
struct Finding: CustomStringConvertible {
    let script: Script
    var states = 0
    var transitions = 0
    var ends = 0
    var failure: String?
    /// The steps that lead to the failure.
    var course: [String] = []

    var description: String {
        guard let failure else { return "\(script): \(states) states, nothing lost" }
        return "\(failure)\n\(script)\n" + course.joined(separator: "\n")
    }
}

/// Explores every state that the threads of a script can come to.
final class Explorer {
    private let script: Script
    private let notebook = Notebook()
    private let world: World
    private var threads: [ThreadNodes] = []
    private var ghosts: [Ghost] = [Ghost()]
    private var ghostNumbers: [Ghost: UInt32] = [Ghost(): 0]
    private var ghostEdges: [UInt64: UInt32] = [:]
    private var visited = FingerprintSet()
    private var stack: [Memory] = []
    private var finding: Finding
    private let recordsRuns: Bool
    private let reach: Reach
    private let isMutant: Bool
    /// A mutant may go round in circles.
    private let mostStates: Int
    /// From where each state was reached, where a failure is to be told.
    private var origins: [UInt64: (origin: UInt64, step: String)]?

    private init(_ script: Script, mutant: Mutant?, tells: Bool) {
        self.script = script
        world = World.make(mutant: mutant, hasTimers: script.plan.hasTimers)
        finding = Finding(script: script)
        recordsRuns = script.senders.contains { $0.contains(.stop) }
        origins = tells ? [:] : nil
        reach = Reach(script, mutant)
        isMutant = mutant != nil
        mostStates = mutant == nil ? .max : 100_000
        let loop = LoopProgram(world: world, plan: script.plan)
        threads.append(
            ProgramNodes(
                recital: world.recital,
                notebook: notebook,
                start: LoopProgram.State(),
                isEnd: { $0.phase == .over },
                program: loop.advance
            )
        )
        for (number, operations) in script.senders.enumerated() {
            let sender = SenderProgram(world: world, operations: operations, number: UInt8(number))
            threads.append(
                ProgramNodes(
                    recital: world.recital,
                    notebook: notebook,
                    start: 0,
                    isEnd: { $0 == operations.count },
                    program: {
                        sender.perform($0)
                        $0 += 1
                    }
                )
            )
        }
    }

    /// Explores a script; a failure is told with the steps that lead to it.
    static func explore(_ script: Script, mutant: Mutant? = nil) -> Finding {
        let finding = Explorer(script, mutant: mutant, tells: false).explore()
        guard finding.failure != nil else { return finding }
        return Explorer(script, mutant: mutant, tells: true).explore()
    }

    private func explore() -> Finding {
        var start = Memory(
            words: world.recital.initialValues,
            locks: [0, 1, 2],
            spuriousWakes: script.spuriousWakes
        )
        for (index, thread) in threads.enumerated() { start.nodes[index] = thread.start }
        add(start, from: 0, nil)
        while let memory = stack.popLast(), finding.failure == nil {
            expand(memory)
            if finding.states > mostStates { break }
        }
        return finding
    }

    private func add(_ memory: Memory, from origin: UInt64, _ step: @autoclosure () -> String?) {
        var memory = memory
        let running = running(memory)
        for index in threads.indices where running & 1 << UInt8(index) == 0 {
            memory.retire(index)
        }
        memory.normalize(reach.loaders, running: running)
        let fingerprint = memory.fingerprint
        finding.transitions += 1
        guard visited.insert(fingerprint) else { return }
        finding.states += 1
        origins?[fingerprint] = (origin, step() ?? "")
        stack.append(memory)
    }

    /// The threads that have not ended, as bits.
    private func running(_ memory: Memory) -> UInt8 {
        threads.indices.reduce(0) { step(memory, $1) == nil ? $0 : $0 | 1 << UInt8($1) }
    }

    private func step(_ memory: Memory, _ thread: Int) -> Step? {
        threads[thread].nodes[Int(memory.nodes[thread])].step
    }

    // MARK: Steps

    private func expand(_ memory: Memory) {
        let fingerprint = origins == nil ? 0 : memory.fingerprint
        var isEnd = true
        let running = running(memory)
        // Where a step and whatever others may do before it leave each other alone, the order of
        // both makes no difference, and it may come first.
        let alone = threads.indices.first { thread in
            step(memory, thread).map { reach.isAlone($0, thread, running: running) } ?? false
        }
        for thread in threads.indices where alone == nil || thread == alone {
            guard let step = step(memory, thread) else { continue }
            if take(step, thread, memory, fingerprint) { isEnd = false }
        }
        guard isEnd else { return }
        finding.ends += 1
        if let failure = verdict(on: memory) { fail(failure, at: fingerprint) }
    }

    /// Takes a thread's next step in every way there is; returns whether there is one.
    private func take(_ step: Step, _ thread: Int, _ memory: Memory, _ origin: UInt64) -> Bool {
        var next = memory
        switch step.kind {
        case .load:
            let readable = memory.readable(thread, step.place, step.order)
            precondition(
                readable.count == 1 || reach.mayLoad(thread, step),
                "A load was not declared."
            )
            for index in readable {
                next = memory
                let value = next.read(thread, step.place, index, step.order)
                finish(step, thread, &next, value, origin)
            }
            return true
        case .store:
            guard !isFull(memory, step) else { return true }
            next.write(thread, step.place, step.operand, step.order, chained: false)
            finish(step, thread, &next, 0, origin)
        case .exchange, .compareExchange, .or, .and, .add, .max:
            let latest = memory.readable(thread, step.place, .relaxed).upperBound - 1
            let old = next.read(thread, step.place, latest, step.order)
            guard !isFull(memory, step) else { return true }
            if let value = newValue(step, old) {
                next.write(thread, step.place, value, step.order, chained: true)
            }
            finish(step, thread, &next, old, origin)
        case .lock:
            guard memory.isFree(step.place) else { return false }
            let content = next.take(step.place, thread)
            finish(step, thread, &next, content, origin)
        case .unlock:
            next.release(step.place, thread, UInt8(step.content))
            finish(step, thread, &next, 0, origin)
        case .write, .wait, .drain, .close: return callKernel(step, thread, next, origin)
        }
        return true
    }

    /// Whether a mutant makes more messages than there is room for: the course is left there.
    private func isFull(_ memory: Memory, _ step: Step) -> Bool {
        let isFull = memory.isFull(step.place)
        precondition(!isFull || isMutant, "A word has more messages than there is room for.")
        return isFull
    }

    private func newValue(_ step: Step, _ old: UInt8) -> UInt8? {
        switch step.kind {
        case .compareExchange: old == step.operand ? step.second : nil
        case .or: old | step.operand
        case .and: old & step.operand
        case .add: old &+ step.operand
        case .max: max(old, step.operand)
        default: step.operand
        }
    }

    private func callKernel(
        _ step: Step,
        _ thread: Int,
        _ memory: Memory,
        _ origin: UInt64
    ) -> Bool {
        var next = memory
        switch step.kind {
        case .write:
            if memory.event == .closed {
                fail("A handle was used after it was closed.", at: origin)
            }
            next.event = .written
        case .wait:
            if memory.event == .written {
                next.event = .clear
            } else if memory.spuriousWakes > 0 {
                next.spuriousWakes -= 1
            } else {
                return false
            }
        case .drain: if memory.event == .written { next.event = .clear }
        default: next.event = .closed
        }
        finish(step, thread, &next, 0, origin)
        return true
    }

    private func finish(
        _ step: Step,
        _ thread: Int,
        _ memory: inout Memory,
        _ result: UInt8,
        _ origin: UInt64
    ) {
        let node = memory.nodes[thread]
        let edge = threads[thread].edge(node, result)
        let callNotes = threads[thread].nodes[Int(node)].callNotes
        memory.nodes[thread] = edge.target
        if callNotes != 0 { apply(callNotes, &memory, origin) }
        if edge.notes != 0 { apply(edge.notes, &memory, origin) }
        add(memory, from: origin, describe(step, thread, result, edge.notes))
    }

    // MARK: The oracle

    private func apply(_ notes: Int, _ memory: inout Memory, _ origin: UInt64) {
        // Once the senders have ended, the loop does a little more, and then sleeps.
        let isLast = threads.indices.dropFirst().allSatisfy { step(memory, $0) == nil }
        let key = UInt64(memory.ghost) << 32 | UInt64(notes) << 1 | (isLast ? 1 : 0)
        if let ghost = ghostEdges[key] {
            memory.ghost = ghost
            return
        }
        var ghost = ghosts[Int(memory.ghost)]
        for note in notebook.lists[notes] {
            if let failure = ghost.apply(note, recordsRuns: recordsRuns, isLast: isLast) {
                return fail(failure, at: origin)
            }
        }
        let number = ghostNumbers[ghost] ?? UInt32(ghosts.count)
        if number == ghosts.count {
            ghosts.append(ghost)
            ghostNumbers[ghost] = number
        }
        ghostEdges[key] = number
        memory.ghost = number
    }

    /// The error in a state in which no thread can take a step any more; `nil` if there is none.
    private func verdict(on memory: Memory) -> String? {
        for thread in threads.indices.dropFirst() where step(memory, thread) != nil {
            return "A sender waits for ever."
        }
        let ghost = ghosts[Int(memory.ghost)]
        guard let wait = step(memory, 0) else { return ghost.verdictOnEnd() }
        guard wait.kind == .wait else { return "The loop waits for a lock for ever." }
        return verdict(on: wait, memory) ?? ghost.verdictOnSleep()
    }

    private func verdict(on wait: Step, _ memory: Memory) -> String? {
        let (mode, version) = (Int(wait.operand), wait.second)
        let engine = EngineContent(world.recital.content(memory.content(World.engine)))
        let bit: UInt8 = mode == 0 ? 1 : 2
        let waiting = ghosts[Int(memory.ghost)].waiting
        if waiting.contains(where: { ($0 < 128) == (mode == 0) }) {
            return "The loop sleeps on a block."
        }
        if engine.version != version { return "The loop sleeps on outdated contents." }
        if engine.items & bit == 0 { return "The loop sleeps in an empty mode." }
        if wait.content != UInt32(script.plan.end(soonest: engine.soonest(in: mode))) {
            return "The loop sleeps until a date that is not the soonest."
        }
        if memory.latest(World.Word.ending) != 0 { return "The loop sleeps although it was ended." }
        return nil
    }

    // MARK: Telling

    private func fail(_ failure: String, at fingerprint: UInt64) {
        guard finding.failure == nil else { return }
        finding.failure = failure
        var course: [String] = []
        var place = fingerprint
        while let found = origins?[place], !found.step.isEmpty {
            course.append(found.step)
            place = found.origin
        }
        finding.course = course.reversed()
    }

    private func describe(_ step: Step, _ thread: Int, _ result: UInt8, _ notes: Int) -> String {
        let name = thread == 0 ? "loop" : "sender \(thread)"
        let words = ["wake", "run", "ending", "published", "tail"]
        let locks = ["segments", "engine", "remote"]
        let place: String
        switch step.kind {
        case .lock, .unlock: place = locks[step.place]
        case .write, .wait, .drain, .close: place = "event"
        case _ where step.place >= World.Word.planEnd: place = "plan"
        default: place = step.place < words.count ? words[step.place] : "slot \(step.place)"
        }
        let said = notebook.lists[notes].map { "  // \($0)" }.joined()
        return "    \(name): \(step.kind) \(place) \(step.operand) -> \(result)\(said)"
    }
}

/// A set of numbers other than 0.
struct FingerprintSet {
    private var table = [UInt64](repeating: 0, count: 1 << 12)
    private var count = 0

    /// Returns whether the number is a new one.
    mutating func insert(_ number: UInt64) -> Bool {
        if count * 2 > table.count { grow() }
        guard Self.put(number, in: &table) else { return false }
        count += 1
        return true
    }

    private static func put(_ number: UInt64, in table: inout [UInt64]) -> Bool {
        let mask = table.count - 1
        var place = Int(truncatingIfNeeded: number) & mask
        while table[place] != 0 {
            if table[place] == number { return false }
            place = (place + 1) & mask
        }
        table[place] = number
        return true
    }

    private mutating func grow() {
        var larger = [UInt64](repeating: 0, count: table.count * 4)
        for number in table where number != 0 { _ = Self.put(number, in: &larger) }
        table = larger
    }
}
