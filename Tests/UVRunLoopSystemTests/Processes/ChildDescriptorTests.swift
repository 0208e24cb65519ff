import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

/// The descriptors of child processes, and of the process that starts them.
@Suite(.timeLimit(.minutes(15))) struct ChildDescriptorTests {
    @Test func standardDescriptorsThatAreClosedHereAreTheNullDevice() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                startThread {
                    closeStandardDescriptors()
                    spawnWithoutStandardDescriptors()
                    useSocketsWithoutStandardDescriptors()
                }
                .join()
            }
        }
    }

    /// A number that the loop, or the child's own pipe, would get.
    @Test(arguments: [true, false])
    func aNumberThatWasClosedLastIsRefused(hasLoop: Bool) async {
        await #expect(processExitsWith: .success) { [hasLoop] in
            inQuietProcess {
                if hasLoop { UVRunLoop.current.run(mode: .default, for: .zero) }
                let descriptor = dup(0)
                close(descriptor)
                let stream = ChildProcess.Configuration.Stream.descriptor(descriptor)
                precondition(
                    code(of: .init("true", input: .pipe, output: stream)) == .descriptorClosed
                )
                precondition(
                    code(of: .init("true", output: .pipe, errorOutput: stream)) == .descriptorClosed
                )
            }
        }
    }

    @Test func aFullTableOfDescriptorsThrowsAndLeavesNoChild() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                withLoop { loop in
                    let table = FullTable()
                    for free in 0..<8 {
                        table.leave(free)
                        let before = openDescriptorCount()
                        let configuration = ChildProcess.Configuration("true", input: .pipe)
                        let refusal = code { () throws(UVRunLoop.SystemError) in
                            let child = try ChildProcess(configuration) { _, _ in }
                            loop.add(child, forMode: .default)
                        }
                        precondition(refusal == nil || refusal == .noDescriptorsLeft)
                        loop.run(mode: .default, for: refusal == nil ? .seconds(60) : .zero)
                        precondition(openDescriptorCount() == before)
                        precondition(waitpid(-1, nil, 0) == -1 && errno == ECHILD)
                    }
                    table.clear()
                }
            }
        }
    }

    @Test func noDescriptorLeaksIntoTheChild() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                try withLoop { loop in
                    // Without FD_CLOEXEC, as plain open(2) makes it.
                    let open = dup(0)
                    precondition(fcntl(open, F_GETFD) == 0)
                    // In the child, too.
                    pthread_atfork(nil, nil) { _ = dup(0) }
                    let story = ChildStory()
                    var configuration = shell("ls /proc/self/fd")
                    configuration.input = .pipe
                    let child = try ChildProcess(configuration, handler: story.handler)
                    let other = try ChildProcess(.init("sleep", ["600"])) { _, _ in }
                    loop.add(child, forMode: .default)
                    loop.run(mode: .default, for: .seconds(60))
                    // The last one is that of ls itself.
                    precondition(story.output == "0\n1\n2\n3\n", story.output)
                    precondition(fcntl(open, F_GETFD) == 0)
                    try other.send(signal: SIGKILL)
                }
            }
        }
    }

    /// The number may be another thread's file by the time a flag would be taken back.
    @Test func theFlagsOfDescriptorsStayWhileChildrenAreStarted() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                try withLoop { loop in
                    let open = dup(0)
                    let isDone = SharedBox(false)
                    let hasChanged = SharedBox(false)
                    let thread = startThread {
                        while !isDone.value {
                            if fcntl(open, F_GETFD) != 0 { hasChanged.value = true }
                        }
                    }
                    for _ in 0..<50 {
                        let child = try ChildProcess(.init("true")) { _, _ in }
                        loop.add(child, forMode: .default)
                    }
                    loop.run(mode: .default, for: .seconds(60))
                    isDone.value = true
                    thread.join()
                    precondition(!hasChanged.value)
                }
            }
        }
    }

    @Test func aThousandChildrenLeaveNothingBehind() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                try withLoop { loop in
                    let first = try ChildProcess(.init("true")) { _, _ in }
                    loop.add(first, forMode: .default)
                    loop.run(mode: .default, for: .seconds(60))
                    let before = openDescriptorCount()
                    for _ in 0..<100 {
                        for _ in 0..<10 {
                            let child = try ChildProcess(.init("true", input: .pipe)) { _, _ in }
                            loop.add(child, forMode: .default)
                        }
                        loop.run(mode: .default, for: .seconds(60))
                    }
                    loop.run(mode: .default, for: .zero)
                    precondition(openDescriptorCount() == before)
                    precondition(waitpid(-1, nil, 0) == -1 && errno == ECHILD)
                }
            }
        }
    }
}

/// A child that inherits descriptors which are closed, beside a pipe.
private func spawnWithoutStandardDescriptors() {
    let loop = UVRunLoop.current
    let story = ChildStory()
    let configuration = UVRunLoop.ChildProcess.Configuration(
        "sh",
        ["-c", "readlink /proc/self/fd/0; readlink /proc/$$/fd/2; cat"],
        input: .inherited,
        errorOutput: .inherited
    )
    guard let child = try? UVRunLoop.ChildProcess(configuration, handler: story.handler) else {
        preconditionFailure("The child was not started.")
    }
    loop.add(child, forMode: .default)
    precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
    precondition(story.output == "/dev/null\n/dev/null\n", "The child has \(story.output).")
    expectClosedStandardDescriptors()
}

private func useSocketsWithoutStandardDescriptors() {
    let loop = UVRunLoop.current
    guard
        let port = try? UVRunLoop.DatagramPort(
            boundTo: .ipv4Loopback(port: 0),
            handler: { _, _ in }
        ),
        let watch = try? UVRunLoop.FileWatch("/", handler: { _, _ in })
    else { preconditionFailure("The sources cannot be made.") }
    loop.add(port, forMode: .default)
    loop.add(watch, forMode: .default)
    loop.run(mode: .default, for: .zero)
    expectClosedStandardDescriptors()
    port.invalidate()
    watch.invalidate()
    loop.run(mode: .default, for: .zero)
}
