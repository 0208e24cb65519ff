import BenchSupport
import UVRunLoop

/// The memory that mode names cost the process, and loops that have not heard of them.
enum NameMemory {
    private static let names = 1_000_000
    private static let loops = 100

    static func measure() {
        let few = Loops(prefix: "few")
        let before = ProcessMemory.resident
        let start = now()
        for number in 0..<names { use(UVRunLoop.Mode(rawValue: "com.example.name.\(number)")) }
        let (grown, taken) = (ProcessMemory.resident - before, now() - start)
        let many = Loops(prefix: "many")
        print(
            """
            \(names) mode names of up to 23 bytes, each used once:
              memory: \(grown / names) bytes a name, \(grown >> 20) MiB
              time:   \(taken / Int64(names)) ns a name
            a loop with a timer in a mode of its own, its thread included:
              made before these names: \(few.bytesEach >> 10) KiB
              made after them:         \(many.bytesEach >> 10) KiB
            """
        )
        few.end()
        many.end()
    }

    /// Loops on threads of their own, each of which has run in a mode of its own.
    private struct Loops {
        private let threads: [UVRunLoop.Thread]
        let bytesEach: Int

        init(prefix: String) {
            // Memory that is allocated once for the process is not theirs.
            Self.start("\(prefix) first").end()
            let before = ProcessMemory.resident
            threads = (0..<loops).map { Self.start("\(prefix) \($0)") }
            bytesEach = (ProcessMemory.resident - before) / loops
        }

        private static func start(_ name: String) -> UVRunLoop.Thread {
            let hasRun = Latch()
            let thread = try? UVRunLoop.Thread(setUp: {
                let mode = UVRunLoop.Mode(rawValue: name)
                let timer = UVRunLoop.Timer(after: .seconds(3_600), handler: { _ in })
                UVRunLoop.current.add(timer, forMode: mode)
                UVRunLoop.current.run(mode: mode, for: .zero)
                hasRun.open()
            })
            guard let thread else { fail("No thread was left.") }
            hasRun.wait()
            return thread
        }

        func end() { threads.forEach { $0.end() } }
    }
}

extension UVRunLoop.Thread {
    fileprivate func end() {
        stop()
        join()
    }
}
