import Glibc
import Injection

/// Something that time does rarely, in a process of its own.
struct Corner: Sendable {
    let name: String
    /// How long it lasts; the number is 1 in the quick form, and greater in the long one.
    let body: @Sendable (_ scale: Int) throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (_ scale: Int) throws -> Void) {
        self.name = name
        self.body = body
    }

    static let all = storms + stops + dates + clocks

    /// - Returns: Whether every corner was passed.
    static func run(scale: Int, only name: String? = nil) -> Bool {
        var isGood = true
        for corner in all where name == nil || corner.name == name {
            if let problem = corner.pass(scale) {
                print("FAILED \(corner.name)  \(problem)")
                isGood = false
            } else {
                print("time: \(corner.name) passed")
            }
        }
        return isGood
    }

    /// - Returns: What was wrong.
    private func pass(_ scale: Int) -> String? {
        let box = Unmanaged.passRetained(Box(self, scale))
        defer { box.release() }
        let process = child_start(
            0,
            60_000 * scale,
            { context in
                guard let context else { return }
                Unmanaged<Box>.fromOpaque(context).takeUnretainedValue().carryOut()
            },
            box.toOpaque()
        )
        let end = child_wait(0, process)
        let problem = text(end.problem)
        if end.signal == SIGALRM { return "hangs: \(text(end.step))" }
        if end.signal != 0 { return "dies by signal \(end.signal): \(text(end.step))" }
        if end.status != 0 { return "exits with \(end.status): \(text(end.step)) \(problem)" }
        return problem.isEmpty ? nil : problem
    }

    private final class Box: Sendable {
        private let corner: Corner
        private let scale: Int

        init(_ corner: Corner, _ scale: Int) {
            self.corner = corner
            self.scale = scale
        }

        func carryOut() {
            do {
                try corner.body(scale)
            } catch let error as Missing {
                child_note_problem("missing: \(error.what)")
            } catch let error as Wrong {
                child_note_problem("wrong: \(error.what)")
            } catch {
                child_note_problem("\(error)")
            }
        }
    }

    /// Has every operation go well, on the calling thread and on a new one.
    static func performAll(_ scene: String) throws {
        for operation in Operation.all {
            child_note_step("\(operation.name), \(scene)")
            let outcome = Shared(Outcome.done)
            PlainThread {
                let number = "\(getpid())-\(operation.name)-\(scene)"
                let result = operation.perform(Scene(limit: .seconds(20), name: number))
                outcome.change { $0 = result }
            }.join()
            guard case .done = outcome.current else {
                throw Wrong(what: "\(operation.name), \(scene): \(outcome.current)")
            }
        }
    }
}
