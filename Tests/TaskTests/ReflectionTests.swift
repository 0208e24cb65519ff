import Testing

@testable import UVRunLoop

/// Dumping an object, as a failed expectation does, is harmless.
@Suite(.timeLimit(.minutes(15))) struct ReflectionTests {
    @Test func objectsCanBeDumped() throws {
        try withLoop(.manual) { loop, _ in
            let pipe = Pipe()
            let objects: [any AnyObject] = [
                loop,
                UVRunLoop.Timer(after: .zero) { _ in },
                UVRunLoop.Observer(activities: .all) { _, _ in },
                UVRunLoop.Source { _ in },
                try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in },
                UVRunLoop.Port(),
                UVRunLoop.Port().link,
                loop.ticks(every: .seconds(1)),
                try loop.signals(45),
                try loop.readiness(of: pipe.readEnd, .readable),
                try UVRunLoop.Thread { UVRunLoop.current.stop() },
            ]
            for object in objects {
                var text = ""
                dump(object, to: &text)
                #expect(text.hasPrefix("- "))
            }
            for case let thread as UVRunLoop.Thread in objects {
                thread.stop()
                thread.join()
            }
        }
    }
}
