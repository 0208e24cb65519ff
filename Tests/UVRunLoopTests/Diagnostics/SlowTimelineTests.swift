import Glibc
import Testing

@testable import UVRunLoop

/// A timeline whose file takes less than there is to write.
@Suite(.timeLimit(.minutes(15))) struct SlowTimelineTests {
    /// As with a disk that does not keep up; here it is a pipe that is full.
    @Test func whatWaitsTooLongIsDroppedAndCounted() throws {
        let folder = TemporaryFolder()
        let reader = try fullPipe(at: folder.path + "/pipe")
        defer { close(reader) }
        let recording = try Recording.begin(path: folder.path + "/pipe", capacity: 100)
        let thread = try UVRunLoop.Thread(name: "busy one")
        for _ in 0..<150 {
            awaitSleep(of: thread.runLoop)
            try thread.runLoop.performAndWait {}
        }
        thread.stop()
        thread.join()
        let ending = startThread { recording.end() }
        folder.write(timeline(from: reader), to: "trace")
        ending.join()
        let trace = try Trace(path: folder.path + "/trace")
        #expect(trace.events.named("wake busy one").count <= 100)
        #expect(trace.events.contains { $0.name.hasSuffix(" wake-ups were dropped") })
        let loop = trace.events(ofThread: "busy one")
        #expect(!loop.of("block").isEmpty)
        #expect(loop.filter { $0.phase == "X" }.count == 100)
        #expect(loop.contains { $0.name.hasSuffix(" events were dropped") })
    }

    @Test func aReaderFindsTheEndOfAPipeWhenTheRecorderHasStopped() throws {
        let folder = TemporaryFolder()
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        let reader = open(folder.path + "/pipe", O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let recorder = try UVRunLoop.Recorder(path: folder.path + "/pipe")
        recorder.stop()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        #expect(read(reader, &buffer, buffer.count) > 0)
        #expect(read(reader, &buffer, buffer.count) == 0)
        withExtendedLifetime(recorder) {}
    }

    @Test func aPipeThatNobodyReadsCannotBeOpened() {
        let folder = TemporaryFolder()
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        #expect(throws: UVRunLoop.RunLoopError.self) {
            try UVRunLoop.Recorder(path: folder.path + "/pipe")
        }
    }

    /// The kernel then sends a signal for a write of which it has made a part.
    @Test func aReaderThatLeavesDuringAWriteEndsNoProgram() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let reader = try fullPipe(at: folder.path + "/pipe")
            let recorder = try UVRunLoop.Recorder(path: folder.path + "/pipe")
            // More than a pipe has room for.
            onAnotherThread {
                let loop = UVRunLoop.current
                for _ in 0..<1_000 {
                    loop.perform {}
                    loop.run()
                }
            }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            precondition(read(reader, &buffer, buffer.count) == buffer.count)
            // The recorder's thread writes a part and waits for room.
            usleep(200_000)
            close(reader)
            recorder.stop()
        }
    }
}

/// Makes a named pipe that takes nothing until it is read; returns the end to read from.
private func fullPipe(at path: String) throws -> CInt {
    #expect(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    let writer = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    try #require(reader >= 0 && writer >= 0)
    defer { close(writer) }
    let page = [UInt8](repeating: 32, count: 4_096)
    while Glibc.write(writer, page, page.count) > 0 {}
    return reader
}

/// What comes through a pipe until the timeline in it ends.
private func timeline(from reader: CInt) -> String {
    var (text, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
    while !text.suffix(3).elementsEqual("\n]\n".utf8), waitUntilReadable(reader) {
        let count = read(reader, &buffer, buffer.count)
        if count == 0 { break }
        text += buffer[..<max(0, count)]
    }
    return String(decoding: text, as: UTF8.self)
}
