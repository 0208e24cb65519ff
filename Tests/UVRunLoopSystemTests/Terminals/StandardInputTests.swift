import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

private typealias StandardInput = UVRunLoop.StandardInput

/// The standard input, and other descriptors that are read so.
@Suite(.timeLimit(.minutes(15))) struct StandardInputTests {
    @Test func bytesAndTheEndAreTold() throws {
        try withLoop { loop in
            let pipe = Pipe()
            let log = StreamLog()
            let input = try StandardInput(descriptor: pipe.readEnd) { source, event in
                if case .bytes(let bytes) = event { log.gather(bytes) }
                if event == .ended { log.note("ended") }
                #expect(source.isValid)
            }
            loop.add(input, forMode: .default)
            pipe.write("hello")
            pipe.closeWriteEnd()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.received == Array("hello".utf8) && log.entries == ["ended"])
            #expect(!input.isValid && fcntl(pipe.readEnd, F_GETFD) >= 0)
        }
    }

    /// Between the loop's check that there is data and its read.
    @Test(
        .enabled(if: readsWithoutWaiting, "Linux before 6.4 reads a pipe only so that it may wait.")
    )
    func dataThatAnotherReaderTakesFirstDoesNotBlockTheLoop() async {
        await #expect(processExitsWith: .success) {
            endProcess(after: 60)
            try onAnotherThread {
                let (loop, pipe, log) = (UVRunLoop.current, Pipe(), EventLog())
                let (isAsked, isTaken) = (Signal(), Signal())
                // Which stays blocking.
                dup2(pipe.readEnd, 0)
                let input = try StandardInput { input, event in
                    log.note("\(event)")
                    input.invalidate()
                }
                loop.add(input, forMode: .default)
                let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                    log.note("timer")
                    pipe.write("b")
                }
                loop.add(timer, forMode: .default)
                pipe.write("a")
                startThread {
                    isAsked.wait()
                    var byte: UInt8 = 0
                    precondition(read(0, &byte, 1) == 1 && byte == UInt8(ascii: "a"))
                    isTaken.send()
                }.detach()
                intercept([.read, .readWithFlags]) {
                    isAsked.send()
                    isTaken.wait()
                    return 0
                }
                precondition(loop.run(mode: .default, for: .seconds(50)) == .finished)
                precondition(log.entries == ["timer", "bytes([98])"], "\(log.entries)")
            }
        }
    }

    @Test(
        .enabled(if: readsWithoutWaiting, "Linux before 6.4 reads a pipe only so that it may wait.")
    )
    func aReadThatASignalInterruptsIsRepeated() async {
        await #expect(processExitsWith: .success) {
            endProcess(after: 60)
            try onAnotherThread {
                let (pipe, log) = (Pipe(), EventLog())
                dup2(pipe.readEnd, 0)
                let input = try StandardInput { input, event in
                    log.note("\(event)")
                    input.invalidate()
                }
                UVRunLoop.current.add(input, forMode: .default)
                pipe.write("a")
                let count = Guarded(0)
                intercept([.readWithFlags]) {
                    count.withLock { count in
                        count += 1
                        return count % 2 == 1 ? EINTR : 0
                    }
                }
                UVRunLoop.current.run(mode: .default, for: .seconds(50))
                precondition(log.entries == ["bytes([97])"], "\(log.entries)")
                precondition(count.withLock { $0 } > 1)
            }
        }
    }

    /// Without a byte to read, its source would never be ready.
    @Test func aFileForWhichNothingCanBeSentIsRefused() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                let folder = TemporaryFolder()
                folder.write("text", to: "file")
                replaceInput(by: "\(folder.path)/file")
                refuse(.write, with: ENOBUFS, where: [2: 1])
                precondition((try? StandardInput { _, _ in }) == nil)
            }
        }
    }

    /// Who collects lines would keep a thousand times as much as there is.
    @Test func fewBytesKeepLittleMemory() throws {
        try withLoop { loop in
            let pipe = Pipe()
            let capacity = Box(Int.max)
            let input = try StandardInput(descriptor: pipe.readEnd) { _, event in
                if case .bytes(let bytes) = event { capacity.value = bytes.capacity }
            }
            loop.add(input, forMode: .default)
            pipe.write("hello")
            pipe.closeWriteEnd()
            loop.run(mode: .default, for: .seconds(60))
            #expect(capacity.value < 1_000)
        }
    }

    /// Also a file that ends within a line, an empty one, and one that no single read takes.
    @Test(arguments: [4, 0, 250_000])
    func aFileIsReadToItsEnd(length: Int) async {
        await #expect(processExitsWith: .success) { [length] in
            inQuietProcess {
                let text = String(String(repeating: "line\n", count: 50_000).prefix(length))
                let folder = TemporaryFolder()
                folder.write(text, to: "file")
                replaceInput(by: "\(folder.path)/file")
                let bytes = try readInput()
                precondition(bytes == Array(text.utf8))
            }
        }
    }

    @Test func anInvalidSourceOfAFileHasNoDescriptors() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                replaceInput(by: "/dev/null")
                try withLoop { loop in
                    loop.run(mode: .default, for: .zero)
                    let count = openDescriptorCount()
                    for isRead in [true, false] {
                        let input = try StandardInput { _, _ in }
                        loop.add(input, forMode: .default)
                        if isRead { loop.run(mode: .default, for: .seconds(60)) }
                        input.invalidate()
                        precondition(openDescriptorCount() == count)
                        withExtendedLifetime(input) {}
                    }
                }
            }
        }
    }

    /// The child has copies of all descriptors.
    @Test func aFileEndsWhileAForkedChildLives() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            folder.write("text", to: "file")
            replaceInput(by: "\(folder.path)/file")
            try withLoop { loop in
                var child: pid_t = 0
                var bytes: [UInt8] = []
                let input = try StandardInput { _, event in
                    if case .bytes(let some) = event { bytes += some }
                }
                loop.add(input, forMode: .default)
                child = startChild { while true { pause() } }
                precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
                precondition(bytes == Array("text".utf8))
                precondition(kill(child, 0) == 0)
                kill(child, SIGKILL)
            }
        }
    }

    @Test func theNullDeviceEndsAtOnce() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                replaceInput(by: "/dev/null")
                let bytes = try readInput()
                precondition(bytes.isEmpty)
            }
        }
    }

    @Test func aPipeKeepsItsBlockingMode() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                let pipe = Pipe()
                dup2(pipe.readEnd, 0)
                pipe.write("text")
                try withLoop { loop in
                    let input = try StandardInput { _, event in
                        precondition(event == .bytes(Array("text".utf8)))
                        precondition(!isNonBlocking(0))
                        loop.stop()
                    }
                    loop.add(input, forMode: .default)
                    precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
                }
                precondition(!isNonBlocking(0))
            }
        }
    }

    @Test func inputWaitsForItsMode() throws {
        try withLoop { loop in
            let pipe = Pipe()
            let log = StreamLog()
            let input = try StandardInput(descriptor: pipe.readEnd) { source, event in
                if case .bytes(let bytes) = event { log.gather(bytes) }
                source.invalidate()
            }
            loop.add(input, forMode: .modalPanel)
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            pipe.write("text")
            #expect(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
            #expect(log.received.isEmpty)
            #expect(loop.run(mode: .modalPanel, for: .seconds(60)) == .finished)
            #expect(log.received == Array("text".utf8))
        }
    }

    @Test func descriptorsThatCannotBeReadThrow() {
        for number in [-1, 9_999] as [CInt] {
            do throws(UVRunLoop.SystemError) {
                _ = try StandardInput(descriptor: number) { _, _ in }
                Issue.record("There is no such descriptor.")
            } catch {
                #expect(error.code == .descriptorClosed && error.attempt == .open)
            }
        }
    }

    @Test func aDescriptorThatIsOpenForWritingOnlyThrows() {
        let pipe = Pipe()
        do throws(UVRunLoop.SystemError) {
            _ = try StandardInput(descriptor: pipe.writeEnd) { _, _ in }
            Issue.record("It is never ready.")
        } catch {
            #expect(error.code == .invalidArgument && error.attempt == .open)
        }
    }

    @Test func aTaskTakesTheBytesOneReadAtATime() async throws {
        try await UVRunLoop.withThread { loop in
            let pipe = Pipe()
            let input = try StandardInput(descriptor: pipe.readEnd)
            loop.add(input, forMode: .common)
            var iterator = input.events.makeAsyncIterator()
            for number in 0..<20 {
                pipe.write("\(number)")
                #expect(await iterator.next() == .bytes(Array("\(number)".utf8)))
            }
            pipe.closeWriteEnd()
            #expect(await iterator.next() == .ended)
            #expect(await iterator.next() == nil)
        }
    }

    @Test func bytesReachATaskThatTakesThemWhileTheLoopReads() async throws {
        try await UVRunLoop.withThread { other in
            try await UVRunLoop.withThread { loop in
                let pipe = Pipe()
                let input = try StandardInput(descriptor: pipe.readEnd)
                loop.add(input, forMode: .common)
                // On a thread of its own, it takes at any moment of the loop's pass.
                let taken = await Task(executorPreference: other.taskExecutor) {
                    var (iterator, count) = (input.events.makeAsyncIterator(), 0)
                    while count < 20_000 {
                        pipe.write("x")
                        guard case .bytes(let bytes) = await iterator.next() else { break }
                        count += bytes.count
                    }
                    return count
                }.value
                #expect(taken == 20_000)
            }
        }
    }

    @Test func aSocketThatWasResetHasBytesAndThenAnEnd() throws {
        try withLoop { loop in
            let (own, peers) = socketPair()
            defer { close(own) }
            write("unread", to: own)
            write("bytes", to: peers)
            close(peers)
            let log = EventLog()
            let input = try StandardInput(descriptor: own) { _, event in
                if case .bytes = event { log.note("bytes") } else { log.note("end") }
            }
            loop.add(input, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["bytes", "end"])
        }
    }

    @Test func bytesThatNoTaskTakesLetTheLoopSleep() throws {
        try withLoop { loop in
            let pipe = Pipe()
            let input = try StandardInput(descriptor: pipe.readEnd)
            loop.add(input, forMode: .default)
            pipe.write("text")
            loop.run(mode: .default, for: .milliseconds(5))
            let before = threadProcessorTime()
            #expect(loop.run(mode: .default, for: .milliseconds(200)) == .timedOut)
            #expect(threadProcessorTime() - before < 50_000_000)
            input.invalidate()
        }
    }
}

private func replaceInput(by path: String) {
    let file = open(path, O_RDONLY)
    precondition(file > 0 && dup2(file, 0) == 0)
    close(file)
}

private func readInput() throws -> [UInt8] {
    try withLoop { loop in
        let bytes = Box<[UInt8]>([])
        let input = try StandardInput { _, event in
            if case .bytes(let chunk) = event { bytes.value += chunk }
        }
        loop.add(input, forMode: .default)
        precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
        return bytes.value
    }
}

/// Whether the kernel can be asked to read a pipe that may be blocking without a wait.
private var readsWithoutWaiting: Bool {
    var system = utsname()
    uname(&system)
    let release = withUnsafeBytes(of: system.release) { String(decoding: $0, as: UTF8.self) }
    let numbers = release.split(separator: ".").prefix(2).compactMap { Int($0) }
    return numbers.count < 2 || !numbers.lexicographicallyPrecedes([6, 4])
}
