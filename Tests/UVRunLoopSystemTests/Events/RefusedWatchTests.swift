import Glibc
import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts
@testable import UVRunLoopSystem

/// Sources whose descriptors the kernel has no room to watch, after they were made.
///
/// Each test has a process of its own, in which the kernel refuses it.
@Suite(.timeLimit(.minutes(15))) struct RefusedWatchTests {
    private typealias SystemError = UVRunLoop.SystemError

    @Test func aWallTimerBecomesInvalid() async {
        await #expect(processExitsWith: .success) {
            try withStartedLoop { loop, _ in
                let timer = try UVRunLoop.WallTimer(at: .now + .seconds(3_600)) { _, _ in }
                loop.add(timer, forMode: .default)
                refuseWatching()
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
                precondition(!timer.isValid)
            }
        }
    }

    @Test func theHandlerOfAnInputIsTold() async {
        await #expect(processExitsWith: .success) {
            try withStartedLoop { loop, log in
                let pipe = Pipe()
                let input = try UVRunLoop.StandardInput(descriptor: pipe.readEnd) {
                    log.note("\($1), \($0.isValid)")
                }
                pipe.write("x")
                loop.add(input, forMode: .default)
                refuseWatching()
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
                let error = SystemError(.read, .noRoom, UVError(rawValue: -ENOSPC))
                precondition(
                    log.entries == ["\(UVRunLoop.StandardInput.Event.failed(error)), true"]
                )
                precondition(!input.isValid)
                // It was not read.
                precondition(pipe.read() == "x")
            }
        }
    }

    @Test func aChildWhoseExitCannotBeToldStillTellsItsOutput() async {
        await #expect(processExitsWith: .success) {
            try withStartedLoop { loop, log in
                let child = try UVRunLoop.ChildProcess(.init("/bin/cat", input: .pipe)) {
                    switch $1 {
                    case .failed(let error): log.note("\(error.code)")
                    case .output(let bytes): log.note("output \(bytes)")
                    case .outputEnded: log.note("end")
                    default: log.note("\($1)")
                    }
                }
                loop.add(child, forMode: .default)
                refuseWatching(child.link.descriptor)
                let code = SystemError.Code.noRoom
                while log.entries != ["\(code)"] {
                    _ = loop.run(
                        mode: .default,
                        for: .seconds(60),
                        returnAfterSourceHandled: true
                    )
                }
                try child.write([5])
                while log.entries != ["\(code)", "inputDrained", "output [5]"] {
                    _ = loop.run(
                        mode: .default,
                        for: .seconds(60),
                        returnAfterSourceHandled: true
                    )
                }
                child.endInput()
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
                precondition(log.entries.last == "end" && log.entries.count == 4)
                var status: CInt = 0
                precondition(waitpid(child.process, &status, 0) == child.process && status == 0)
            }
        }
    }

    @Test func outputThatCannotBeReadIsToldBeforeItsEnd() async {
        await #expect(processExitsWith: .success) {
            try withStartedLoop { loop, log in
                let before = Set(openDescriptors())
                let child = try UVRunLoop.ChildProcess(.init("echo", ["text"])) { _, event in
                    switch event {
                    case .failed(let error): log.note("\(error)")
                    case .exited(let status): log.note("\(status)")
                    default: log.note("\(event)")
                    }
                }
                loop.add(child, forMode: .default)
                let process = child.link.descriptor
                let pipe = openDescriptors().first { !before.contains($0) && $0 != process }
                guard let pipe else { preconditionFailure("There is a pipe.") }
                refuseReading(pipe)
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
                let failure = "\(SystemError(.read, UVError(rawValue: -EIO)))"
                let output = log.entries.filter { !$0.hasPrefix("exited") }
                precondition(output == [failure, "outputEnded"], "\(log.entries)")
                precondition(log.entries.contains("exited(code: 0)"))
            }
        }
    }

    /// A task gets the failure even if it comes for it later.
    @Test func aTaskThatTakesTheEventsIsTold() async {
        await #expect(processExitsWith: .success) {
            try withStartedLoop { loop, log in
                let pipe = Pipe()
                let input = try UVRunLoop.StandardInput(descriptor: pipe.readEnd)
                let events = input.events
                loop.add(input, forMode: .default)
                refuseWatching()
                precondition(loop.run(mode: .default, for: .milliseconds(20)) == .timedOut)
                Task {
                    for await event in events { log.note("\(event)") }
                    log.note("end")
                    loop.perform { loop.stop() }
                }
                precondition(loop.run(mode: .default, for: .seconds(60)) != .timedOut)
                while log.entries.count < 2 { usleep(200) }
                withExtendedLifetime(pipe) {}
                let error = SystemError(.read, .noRoom, UVError(rawValue: -ENOSPC))
                let failure = UVRunLoop.StandardInput.Event.failed(error)
                precondition(log.entries == ["\(failure)", "end"], "\(log.entries)")
            }
        }
    }

    @Test func aTaskThatSleepsUntilADateIsTold() async {
        await #expect(processExitsWith: .success) {
            withStartedLoop { loop, log in
                refuseWatching()
                Task {
                    do {
                        try await loop.sleep(until: .now + .seconds(3_600))
                    } catch {
                        log.note("\(error)")
                    }
                    loop.perform { loop.stop() }
                }
                loop.add(UVRunLoop.Source { _ in }, forMode: .default)
                precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
                precondition(
                    log.entries == [
                        "\(SystemError(.schedule, .noRoom, UVError(rawValue: -ENOSPC)))"
                    ]
                )
            }
        }
    }

    @Test func aChildThatNobodyGetsIsCollectedAllTheSame() async {
        await #expect(processExitsWith: .success) {
            try withStartedLoop { loop, _ in
                let child = try UVRunLoop.ChildProcess(.init("sleep", ["600"])) { _, _ in }
                loop.add(child, forMode: .default)
                refuseWatching(child.link.descriptor)
                child.discard()
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
                precondition(waitpid(child.process, nil, 0) == -1 && errno == ECHILD)
            }
        }
    }
}

/// Runs a body with a loop that has slept, so that its own descriptors are watched.
private func withStartedLoop(_ body: (UVRunLoop, EventLog) throws -> Void) rethrows {
    try withLoop { loop in
        let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in }
        loop.add(timer, forMode: .default)
        precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
        try body(loop, EventLog())
    }
}
