import CUVSupport
import Glibc
import TestSupport
import Testing

@testable import UVRunLoop

/// What the kernel refuses while a loop is made or a descriptor begins to be watched, each in a
/// process of its own.
@Suite(.timeLimit(.minutes(15))) struct RefusedDescriptorTests {
    @Test func theLastCallOfARefusedSourceReadsWithoutBlocking() async {
        await #expect(processExitsWith: .success) { onAnotherThread(readARefusedPipe) }
    }

    @Test func theLastElementOfARefusedSequenceIsReadWithoutBlocking() async {
        await #expect(processExitsWith: .success) { onAnotherThread(readARefusedSequence) }
        await #expect(processExitsWith: .success) { onAnotherThread(readARefusedSequenceLater) }
    }

    @Test func theLastCallOfARefusedSourceMayCloseTheDescriptor() async {
        await #expect(processExitsWith: .success) { inQuietProcess(closeARefusedEventfd) }
    }

    @Test func aRefusedSourceComesAfterAnOlderMessage() async {
        await #expect(processExitsWith: .success) { onAnotherThread(refuseAfterAMessage) }
    }

    @Test func anEventfdThatIsRefusedIsNoDescriptorThatCannotBeWatched() async {
        await #expect(processExitsWith: .success) { onAnotherThread(makeALoopWithoutEvents) }
    }

    /// One system call does for a new descriptor, and for one that a run of another mode took out.
    @Test func aDescriptorIsAddedToTheEpollSetWithoutBeingChangedFirst() async {
        await #expect(processExitsWith: .success) { onAnotherThread(watchWithoutChanges) }
    }
}

/// Runs a loop with a source whose descriptor the kernel does not watch.
private func runRefused(_ descriptor: CInt, _ handler: @escaping () -> Void) {
    let loop = UVRunLoop.current
    let log = Box<[UVRunLoop.DescriptorEvents]>([])
    do {
        let source = try UVRunLoop.DescriptorSource(descriptor, events: .readable) { _, events in
            log.value.append(events)
            handler()
        }
        refuseWatching(descriptor)
        loop.add(source, forMode: .default)
        precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
        precondition(log.value == [.hangUp] && !source.isValid)
    } catch {
        preconditionFailure("\(error)")
    }
}

private func readARefusedPipe() {
    let pipe = Pipe()
    precondition(!isNonBlocking(pipe.readEnd))
    runRefused(pipe.readEnd) {
        var byte: UInt8 = 0
        precondition(read(pipe.readEnd, &byte, 1) == -1 && errno == EAGAIN)
    }
    precondition(!isNonBlocking(pipe.readEnd), "The pipe was left non-blocking.")
}

private func readARefusedSequence() {
    let (loop, pipe) = (UVRunLoop.current, Pipe())
    guard let readiness = try? loop.readiness(of: pipe.readEnd, .readable) else {
        preconditionFailure("The pipe cannot be watched.")
    }
    refuseWatching(pipe.readEnd)
    Task(executorPreference: loop.taskExecutor) {
        var count = 0
        for await events in readiness {
            var byte: UInt8 = 0
            count += 1
            precondition(events == .hangUp)
            precondition(read(pipe.readEnd, &byte, 1) == -1 && errno == EAGAIN)
        }
        precondition(!isNonBlocking(pipe.readEnd), "The pipe was left non-blocking.")
        precondition(count == 1)
        loop.stop()
    }
    precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
}

/// Nobody waits when the descriptor is refused.
private func readARefusedSequenceLater() {
    let (loop, pipe) = (UVRunLoop.current, Pipe())
    guard let readiness = try? loop.readiness(of: pipe.readEnd, .readable) else {
        preconditionFailure("The pipe cannot be watched.")
    }
    refuseWatching(pipe.readEnd)
    precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
    precondition(isNonBlocking(pipe.readEnd), "A read of the pipe would block.")
    withExtendedLifetime(readiness) {}
}

private func closeARefusedEventfd() {
    let event = cuv_event_create()
    _ = fcntl(event, F_SETFL, fcntl(event, F_GETFL) & ~O_NONBLOCK)
    let other = Box<CInt>(-1)
    runRefused(event) {
        precondition(isNonBlocking(event))
        close(event)
        other.value = cuv_event_create()
        precondition(other.value == event, "The number was not used again.")
    }
    precondition(isNonBlocking(other.value), "The flags of another file were changed.")
    precondition(close(other.value) == 0)
}

private func refuseAfterAMessage() {
    let (loop, log) = (UVRunLoop.current, EventLog())
    let (served, refused) = (Pipe(), Pipe())
    let port = messagePort(in: loop, log)
    do {
        loop.add(try reader(served, log), forMode: .default)
        let source = try UVRunLoop.DescriptorSource(refused.readEnd, events: .readable) { _, _ in
            log.note("refused")
        }
        // A poll that counts.
        served.write("x")
        loop.run(until: log, has: 1)
        send(1, to: port)
        refuseWatching(refused.readEnd)
        loop.add(source, forMode: .default)
        loop.run(until: log, has: 3)
        precondition(log.entries == ["read x", "1", "refused"], "\(log.entries)")
    } catch {
        preconditionFailure("\(error)")
    }
}

private func makeALoopWithoutEvents() {
    refuse(.createEvent)
    do {
        try UVRunLoop.prepareCurrent()
        preconditionFailure("A loop was made without an eventfd.")
    } catch {
        precondition(error.code == .refusedBySystem, "\(error)")
        precondition(error.underlying == .notPermitted)
    }
}

private func watchWithoutChanges() {
    let (loop, log, pipe) = (UVRunLoop.current, EventLog(), Pipe())
    let (change, other) = (UInt32(3), UVRunLoop.Mode("other"))
    refuse(.epollControl, where: [1: change, 2: UInt32(pipe.readEnd)])
    do {
        loop.add(try reader(pipe, log), forMode: .default)
        loop.add(UVRunLoop.Source { _ in }, forMode: other)
        for text in ["x", "y"] {
            // The kernel reports the pipe, once, to a run that cannot serve it.
            pipe.write(text)
            loop.run(mode: other, for: .milliseconds(1))
            loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
        }
        precondition(log.entries == ["read x", "read y"], "\(log.entries)")
    } catch {
        preconditionFailure("\(error)")
    }
}
