import CUV
import Glibc
import Testing

@testable import UVRunLoop

/// The behaviour of loops when no descriptors are left, each test in a process of its own.
@Suite(.timeLimit(.minutes(15))) struct DescriptorLimitTests {
    @Test func preparingTheFirstLoopOfAProcessThrowsWhenNoDescriptorsAreLeft() async {
        await #expect(processExitsWith: .success) { inQuietProcess { prepareTheFirstLoop() } }
    }

    @Test func preparingALaterLoopThrowsWhenNoDescriptorsAreLeft() async {
        await #expect(processExitsWith: .success) { inQuietProcess { prepareALaterLoop() } }
    }

    @Test func theFirstLoopOfAProcessTrapsInCurrentWhenNoDescriptorsAreLeft() async {
        await #expect(processExitsWith: .failure) { inQuietProcess { useCurrentForTheFirstLoop() } }
    }

    @Test func aLaterLoopTrapsInCurrentWhenNoDescriptorsAreLeft() async {
        await #expect(processExitsWith: .failure) { inQuietProcess { useCurrentForALaterLoop() } }
    }

    /// A server goes on with the connections that it has, and takes the last descriptor for one more.
    @Test func aDescriptorSourceTakesNoDescriptorOfItsOwn() async {
        await #expect(processExitsWith: .success) { inQuietProcess { makeSourcesWithAFullTable() } }
    }

    @Test func aFullTableDoesNotKeepALoopFromRunning() async {
        await #expect(processExitsWith: .success) { inQuietProcess { runWithAFullTable() } }
    }
}

/// libuv from 1.45 on also opens an `io_uring`, which it does without where the kernel refuses it.
private let countForALoop = uv_version() >= 1 << 16 | 45 << 8 ? 5 : 4

/// With every number of descriptors too small for a loop and for libuv's own needs.
private func prepareTheFirstLoop() {
    let table = FullTable()
    onAnotherThread {
        for count in 0..<countForALoop + 2 {
            table.leave(count)
            expectRefusal(leaving: count)
        }
        table.leave(countForALoop + 2)
        expectSuccess()
    }
}

private func prepareALaterLoop() {
    let pipe = Pipe()
    onAnotherThread { expectSuccess() }
    let table = FullTable()
    onAnotherThread {
        for count in 0..<countForALoop {
            table.leave(count)
            expectRefusal(leaving: count)
        }
        table.leave(countForALoop)
        expectSuccess()
    }
    withExtendedLifetime(pipe) {}
}

private func expectRefusal(leaving count: Int) {
    do {
        try UVRunLoop.prepareCurrent()
        preconditionFailure("A loop was made of \(count) descriptors.")
    } catch {
        precondition(error.code == .noDescriptorsLeft, "\(error)")
        precondition(error.underlying?.rawValue == -EMFILE, "\(error)")
    }
    precondition(freeDescriptorCount() == count, "A loop that was not made kept descriptors.")
}

private func expectSuccess() {
    do {
        let loop = try UVRunLoop.prepareCurrent()
        let fired = Box(false)
        let timer = UVRunLoop.Timer(after: .microseconds(300)) { _ in fired.value = true }
        loop.add(timer, forMode: .default)
        withHangGuard { precondition(loop.run(mode: .default, for: nil) == .finished) }
        precondition(fired.value)
    } catch {
        preconditionFailure("\(error)")
    }
}

private func freeDescriptorCount() -> Int {
    var opened: [CInt] = []
    while true {
        let descriptor = dup(0)
        guard descriptor >= 0 else { break }
        opened.append(descriptor)
    }
    for descriptor in opened { close(descriptor) }
    return opened.count
}

private func useCurrentForTheFirstLoop() {
    let table = FullTable()
    table.leave(0)
    onAnotherThread { _ = UVRunLoop.current }
}

private func useCurrentForALaterLoop() {
    onAnotherThread { expectSuccess() }
    let table = FullTable()
    table.leave(3)
    onAnotherThread { _ = UVRunLoop.current }
}

private func makeSourcesWithAFullTable() {
    let (loop, log) = (UVRunLoop.current, EventLog())
    let pipe = Pipe()
    let files = ["/proc/self/exe", "/", "/dev/null"].map { (path: String) in open(path, O_RDONLY) }
    // Whose descriptors are opened by the first run.
    loop.run(mode: .default, for: .zero)
    let table = FullTable()
    table.leave(0)
    let source = sourceOrError(pipe.readEnd) { log.note("served") }
    guard case .success(let source) = source else { preconditionFailure("\(source)") }
    loop.add(source, forMode: .default)
    pipe.write("x")
    loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
    precondition(log.entries == ["served"] && source.isValid)
    for file in files {
        precondition(errorOfSource(for: file)?.code == .descriptorNotWatchable)
    }
    precondition(errorOfSource(for: 1_000)?.code == .descriptorClosed)
}

private func errorOfSource(for descriptor: CInt) -> UVRunLoop.RunLoopError? {
    if case .failure(let error) = sourceOrError(descriptor, {}) { error } else { nil }
}

private func sourceOrError(
    _ descriptor: CInt,
    _ body: @escaping () -> Void
) -> Result<UVRunLoop.DescriptorSource, UVRunLoop.RunLoopError> {
    Result { () throws(UVRunLoop.RunLoopError) in
        try UVRunLoop.DescriptorSource(descriptor, events: .readable) { _, _ in body() }
    }
}

private func runWithAFullTable() {
    onAnotherThread {
        let loop = UVRunLoop.current
        let pipe = Pipe()
        let reads = Box(0)
        let source = try? UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
            _ = pipe.read()
            reads.value += 1
            if reads.value == 3 { loop.stop() } else { pipe.write("x") }
        }
        guard let source else { preconditionFailure("A pipe can be watched.") }
        let table = FullTable()
        table.leave(0)
        loop.add(source, forMode: .default)
        let writer = startThread { pipe.write("x") }
        withHangGuard { precondition(loop.run(mode: .default, for: nil) == .stopped) }
        writer.join()
        source.invalidate()
    }
}
