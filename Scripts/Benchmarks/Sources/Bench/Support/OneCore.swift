import BenchSupport
import RawUV

/// Measures threads that share a processor.
enum OneCore {
    /// The processor time, in nanoseconds, for each of so many turns of a body whose threads are
    /// all on one core.
    static func time(_ count: Int, _ body: (Int) -> Double) -> Double {
        guard raw_pin_to_one_core() == 0 else { fail("The threads cannot be kept on one core.") }
        defer { raw_unpin() }
        let start = processorTime()
        _ = body(count)
        return Double(processorTime() - start) / Double(count)
    }
}
