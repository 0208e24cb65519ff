import Glibc
import Testing

@testable import UVRunLoop

/// Descriptors of one mode, whose input keeps no sleep of a run in another one awake.
@Suite(.timeLimit(.minutes(15))) struct OtherModeTests {
    private typealias Source = UVRunLoop.DescriptorSource
    private let quiet = UVRunLoop.Mode("quiet")

    /// Makes a run in the quiet mode, and returns how often it slept.
    private func sleeps(_ loop: UVRunLoop, _ driver: CountingDriver) -> Int {
        driver.counts = .init()
        loop.run(mode: quiet, for: .milliseconds(10))
        return driver.counts.waits
    }

    private func withQuietMode(
        _ body: (UVRunLoop, CountingDriver, Pipe, Source) throws -> Void
    ) throws {
        try withCountedLoop { loop, driver in
            loop.add(UVRunLoop.Source { _ in }, forMode: quiet)
            let pipe = Pipe()
            let source = try Source(pipe.readEnd, events: .readable) { _, _ in
                _ = pipe.read()
            }
            loop.add(source, forMode: .default)
            // The kernel watches the descriptor.
            loop.run(mode: .default, for: .zero)
            try body(loop, driver, pipe, source)
            source.invalidate()
        }
    }

    @Test func aSecondSourceOnADescriptor() throws {
        try withQuietMode { loop, driver, pipe, _ in
            let second = try Source(pipe.readEnd, events: .readable) { _, _ in }
            loop.add(second, forMode: .default)
            pipe.write("x")
            #expect(sleeps(loop, driver) <= 5)
            second.invalidate()
        }
    }

    /// For example a socket whose reading is paused.
    @Test func aSourceThatWaitsForFewerEvents() throws {
        try withQuietMode { loop, driver, pipe, source in
            source.link.setEvents { [] }
            pipe.write("x")
            #expect(sleeps(loop, driver) <= 5)
        }
    }

    @Test func aSourceThatWaitsForOtherEvents() throws {
        try withQuietMode { loop, driver, pipe, source in
            source.link.setEvents { .writable }
            pipe.write("x")
            #expect(sleeps(loop, driver) <= 5)
        }
    }

    /// A nested run cannot serve the source whose handler is on the stack.
    @Test func aSourceThatIsBeingCalledAndWaitsForFewerEvents() throws {
        try withCountedLoop { loop, driver in
            let pipe = Pipe()
            let waits = Box(0)
            let source = try Source(pipe.readEnd, events: .readable) { source, _ in
                source.link.setEvents { [] }
                waits.value = sleeps(loop, driver)
                source.invalidate()
            }
            loop.add(source, forMode: .default)
            loop.add(UVRunLoop.Source { _ in }, forMode: quiet)
            pipe.write("x")
            loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect((1...5).contains(waits.value))
        }
    }

    /// On virtual time a descriptor that is ready would keep the clock standing.
    @Test func virtualTimeGoesOn() throws {
        try withLoop(.manual) { loop, _ in
            loop.add(UVRunLoop.Source { _ in }, forMode: quiet)
            let pipe = Pipe()
            let sources = try (0..<2).map { _ in
                let source = try Source(pipe.readEnd, events: .readable) { _, _ in }
                loop.add(source, forMode: .default)
                loop.run(mode: .default, for: .zero)
                return source
            }
            pipe.write("x")
            let limit = loop.now + .seconds(5)
            withHangGuard { #expect(loop.run(mode: quiet, until: limit) == .timedOut) }
            sources.forEach { $0.invalidate() }
        }
    }
}
