import CUVSupport
import Glibc
import TestSupport
import Testing

@testable import UVRunLoop

/// Descriptors that share an open file, sockets that are closed half by half, numbers that come
/// again.
@Suite(.timeLimit(.minutes(15))) struct SharedFileTests {
    @Test func aFileStaysNonBlockingUntilItsLastDescriptorIsNotWatchedAnyMore() throws {
        try withLoop(.uv) { loop, _ in
            let pipe = Pipe()
            let twin = dup(pipe.readEnd)
            defer { close(twin) }
            let sources = try [pipe.readEnd, twin].map { descriptor in
                try UVRunLoop.DescriptorSource(descriptor, events: .readable) { _, _ in }
            }
            for source in sources { loop.add(source, forMode: .default) }
            loop.run(mode: .default, for: .zero)
            #expect(isNonBlocking(twin))
            sources[0].invalidate()
            #expect(isNonBlocking(twin))
            sources[1].invalidate()
            #expect(!isNonBlocking(twin))
        }
    }

    /// All eventfds have one device and inode.
    @Test(arguments: [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]])
    func filesOfOneNumberAreRestoredEachWithItsLastDescriptor(order: [Int]) throws {
        try withLoop(.uv) { loop, _ in
            let events = (0..<3).map { _ in cuv_event_create() }
            for event in events { _ = fcntl(event, F_SETFL, 0) }
            // The last one was never blocking.
            let descriptors = events + [dup(events[1]), cuv_event_create()]
            defer { for descriptor in descriptors { close(descriptor) } }
            let sources = try descriptors.map { descriptor in
                try UVRunLoop.DescriptorSource(descriptor, events: .readable) { _, _ in }
            }
            for source in sources { loop.add(source, forMode: .default) }
            loop.run(mode: .default, for: .zero)
            #expect(descriptors.allSatisfy(isNonBlocking))
            var left = Set(0..<4)
            for index in order {
                sources[index].invalidate()
                left.remove(index)
                let twins = left.isDisjoint(with: [1, 3]) ? [] : [1, 3]
                #expect(isNonBlocking(descriptors[4]))
                for other in 0..<4 {
                    let isWatched = left.contains(other) || twins.contains(other)
                    #expect(isNonBlocking(descriptors[other]) == isWatched)
                }
            }
            sources[4].invalidate()
        }
    }

    @Test func aFileThatWasNonBlockingBeforeStaysSo() throws {
        try withLoop(.uv) { loop, _ in
            let pipe = Pipe()
            _ = fcntl(pipe.readEnd, F_SETFL, fcntl(pipe.readEnd, F_GETFL) | O_NONBLOCK)
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in }
            loop.add(source, forMode: .default)
            loop.run(mode: .default, for: .zero)
            source.invalidate()
            #expect(isNonBlocking(pipe.readEnd))
        }
    }

    @Test func filesThatShareNoFlagsAreRestoredEachWithoutTheKernelsComparison() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { startThread { restoreWithoutComparison() }.join() }
        }
    }

    @Test func aSocketThatIsClosedAfterItWasHalfClosedIsAHangUp() throws {
        try withLoop(.uv) { loop, log in
            let ends = socketPair()
            defer { close(ends.0) }
            let source = try UVRunLoop.DescriptorSource(ends.0, events: .writable) { _, events in
                log.note(events.contains(.hangUp) ? "hang-up" : "writable")
            }
            loop.add(source, forMode: .default)
            shutdown(ends.1, CInt(SHUT_WR))
            for _ in 1...3 { loop.run(mode: .default, for: .zero) }
            #expect(Set(log.entries) == ["writable"])
            close(ends.1)
            // A process that another test starts may hold the closed end for a moment.
            withHangGuard {
                while !log.entries.contains("hang-up") { loop.run(mode: .default, for: .zero) }
            }
            log.clear()
            for _ in 1...3 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries == [])
            source.invalidate()
        }
    }

    @Test func aNumberUsedAgainThoughItsSourceWasKeptServesTheNewSource() throws {
        try withLoop(.uv) { loop, log in
            let old = Pipe()
            let number = old.readEnd
            let kept = try UVRunLoop.DescriptorSource(number, events: .writable) { _, _ in }
            loop.add(kept, forMode: .default)
            loop.run(mode: .default, for: .zero)
            let new = Pipe()
            // The number now means another file, and nobody told the loop.
            #expect(dup2(new.readEnd, number) == number)
            new.write("x")
            let source = try UVRunLoop.DescriptorSource(number, events: .readable) { _, _ in
                log.note("served")
            }
            loop.add(source, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["served"])
            kept.invalidate()
            source.invalidate()
        }
    }

    @Test func aTimerfdFindsItsNumberFreeThoughAWatchedDescriptorHadIt() async {
        await #expect(processExitsWith: .success) { inQuietProcess { useTheTimersNumberFirst() } }
    }
}

/// Watches a descriptor, gives it up, and has the timerfd get its number.
private func useTheTimersNumberFirst() {
    onAnotherThread {
        let loop = UVRunLoop.current
        let lowest = dup(0)
        close(lowest)
        let pipe = Pipe()
        precondition(pipe.readEnd == lowest)
        let source = try? UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in }
        guard let source else { preconditionFailure("A pipe can be watched.") }
        loop.add(source, forMode: .default)
        loop.run(mode: .default, for: .zero)
        source.invalidate()
        pipe.closeReadEnd()
        // Still to come when the loop sleeps, however slow the machine is.
        loop.add(UVRunLoop.Timer(after: .seconds(3600)) { _ in }, forMode: .default)
        whenAsleep(loop) { loop.stop() }
        precondition(loop.run(mode: .default, for: nil) == .stopped)
        // Somebody has the number again: the timerfd, which a timer without tolerance needs.
        let next = dup(0)
        precondition(next != lowest, "No timerfd was opened: the timer would fire coarsely.")
        close(next)
        pipe.closeWriteEnd()
    }
}

/// Both ends of a pipe have one number in the file system; the kernel does not compare files.
private func restoreWithoutComparison() {
    refuse(.compareProcesses)
    let pipe = Pipe()
    _ = fcntl(pipe.writeEnd, F_SETFL, fcntl(pipe.writeEnd, F_GETFL) | O_NONBLOCK)
    let twin = dup(pipe.readEnd)
    let before = [pipe.readEnd, pipe.writeEnd].map { fcntl($0, F_GETFL) }
    let loop = UVRunLoop.current
    let sources = [pipe.readEnd, pipe.writeEnd, twin].map { descriptor in
        guard
            let source = try? UVRunLoop.DescriptorSource(
                descriptor,
                events: descriptor == pipe.writeEnd ? .writable : .readable,
                handler: { _, _ in }
            )
        else { preconditionFailure("A pipe could not be watched.") }
        loop.add(source, forMode: .default)
        // They are watched in this order.
        loop.run(mode: .default, for: .zero)
        return source
    }
    sources[0].invalidate()
    precondition(isNonBlocking(twin), "A file that is still watched blocks.")
    sources[2].invalidate()
    sources[1].invalidate()
    let after = [pipe.readEnd, pipe.writeEnd].map { fcntl($0, F_GETFL) }
    precondition(after == before, "The flags were \(before), and are \(after).")
}
