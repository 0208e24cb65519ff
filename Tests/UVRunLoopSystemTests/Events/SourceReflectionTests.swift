import TestSupport
import Testing
import UVRunLoop

@testable import UVRunLoopSystem

/// Printing and dumping sources, as a failed expectation does.
@Suite(.timeLimit(.minutes(15))) struct SourceReflectionTests {
    @Test func sourcesArePrintedInOneLineAndHaveNoChildren() throws {
        try withLoop { loop in
            let sources: [(String, any UVRunLoop.PortSource)] = [
                ("WallTimer", try UVRunLoop.WallTimer(at: .now + .seconds(60)) { _, _ in }),
                ("FileWatch", try UVRunLoop.FileWatch("/") { _, _ in }),
                ("Resolver", try UVRunLoop.Resolver(host: "localhost") { _, _ in }),
                ("Offload", try UVRunLoop.Offload(work: { 1 }, handler: { _, _ in })),
            ]
            for (kind, source) in sources {
                source.label = "x"
                #expect(source.description.hasPrefix("\(kind) \"x\""))
                #expect(source.debugDescription.hasPrefix("\(kind) \"x\" 0x"))
                var text = ""
                dump(source, to: &text)
                #expect(text.hasPrefix("- ") && text.count { $0 == "\n" } == 1)
                UVRunLoop.invalidate(source)
            }
        }
    }
}
