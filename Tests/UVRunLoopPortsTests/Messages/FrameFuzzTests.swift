import Glibc
import Testing

@testable import UVRunLoopPorts

/// Many malformed inputs for the parser, the same ones in every run.
@Suite(.timeLimit(.minutes(15))) struct FrameFuzzTests {
    /// `UVRUNLOOP_FUZZ_CASES` sets their number, `UVRUNLOOP_FUZZ_SEED` the seed.
    @Test func noInputBreaksTheParser() {
        let cases = number("UVRUNLOOP_FUZZ_CASES") ?? 20_000
        let seed = number("UVRUNLOOP_FUZZ_SEED") ?? 1
        let report = FrameFuzz.run(seed: UInt64(seed), cases: cases)
        #expect(report.failures == [])
        #expect(report.frames > cases / 4)
        #expect(report.errors > cases / 8)
    }

    private func number(_ name: String) -> Int? {
        getenv(name).flatMap { Int(String(cString: $0)) }
    }
}
