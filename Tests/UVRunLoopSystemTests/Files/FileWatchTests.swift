import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

private typealias FileWatch = UVRunLoop.FileWatch

/// Changes of files, as events of a loop.
@Suite(.timeLimit(.minutes(15))) struct FileWatchTests {
    @Test func aFileThatIsMadeInAWatchedFolderIsReported() throws {
        try withLoop { loop in
            let folder = TemporaryFolder()
            let watch = try FileWatch(folder.path) { watch, change in
                #expect(change.name == "new" && change.kinds.contains(.renamed))
                watch.invalidate()
            }
            loop.add(watch, forMode: .default)
            folder.write("text", to: "new")
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(!watch.isValid)
        }
    }

    @Test func aFileThatIsChangedIsReported() throws {
        try withLoop { loop in
            let folder = TemporaryFolder()
            folder.write("text", to: "file")
            let kinds = Box<FileWatch.Kinds>([])
            let watch = try FileWatch("\(folder.path)/file") { watch, change in
                #expect(change.name == "file")
                if kinds.value.isEmpty { loop.stop() }
                kinds.value.formUnion(change.kinds)
                if kinds.value == [.changed, .renamed] { watch.invalidate() }
            }
            loop.add(watch, forMode: .default)
            whenAsleep(loop) { folder.write("other", to: "file") }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(kinds.value == .changed)
            unlink("\(folder.path)/file")
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
        }
    }

    /// libuv reads for as long as there is something to read.
    @Test func aFolderThatChangesFasterThanItIsReadKeepsNothingElseFromBeingServed() throws {
        try withLoop { loop in
            let folder = TemporaryFolder()
            let hasOverflowed = Box(0)
            let watches = try (0..<40).map { _ in
                try FileWatch(folder.path) { _, change in
                    if change.kinds.contains(.overflowed) { hasOverflowed.value += 1 }
                    if change.name == "last" { loop.stop() }
                }
            }
            for watch in watches { loop.add(watch, forMode: .default) }
            let isOver = SharedBox(false)
            let writers = startWriters(in: folder, until: isOver)
            let ticks = Box(0)
            let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { timer in
                ticks.value += 1
                if ticks.value >= 3, hasOverflowed.value > 0 { loop.stop() }
            }
            loop.add(timer, forMode: .default)
            // Under the thread sanitizer the writers take a minute until a watch overflows.
            #expect(loop.run(mode: .default, for: .seconds(600)) == .stopped)
            isOver.value = true
            writers.forEach { $0.join() }
            timer.invalidate()
            // The watches go on.
            whenAsleep(loop) { folder.write("", to: "last") }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            watches.forEach { $0.invalidate() }
        }
    }

    @Test func changesOfOneFileAreMergedAndOthersKeepTheirOrder() throws {
        try withLoop { loop in
            let folder = TemporaryFolder()
            let log = EventLog()
            let watch = try FileWatch(folder.path) { _, change in
                log.note(change.name ?? "")
                if log.entries.count == 3 { loop.stop() }
            }
            loop.add(watch, forMode: .default)
            for name in ["b", "a", "b", "c", "a"] { folder.write("text", to: name) }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["b", "a", "c"])
            watch.invalidate()
        }
    }

    @Test func watchesThatAreReadyTogetherComeByOrder() throws {
        try withLoop { loop in
            let folder = TemporaryFolder()
            let log = EventLog()
            let watches = try [3, 1, 2].map { order in
                try FileWatch(folder.path, order: order) { _, _ in
                    log.note("\(order)")
                    if order == 3 { loop.stop() }
                }
            }
            for watch in watches { loop.add(watch, forMode: .default) }
            mkdir("\(folder.path)/new", 0o700)
            log.observe(loop, [.beforeTimers])
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            let calls = log.entries.filter { $0 != "beforeTimers" }
            #expect(calls == ["1", "2", "3"])
            #expect(log.entries.prefix(4) == ["beforeTimers", "1", "beforeTimers", "2"])
            for watch in watches { watch.invalidate() }
        }
    }

    @Test func aChangeWaitsForItsMode() throws {
        try withLoop { loop in
            let folder = TemporaryFolder()
            let log = EventLog()
            let watch = try FileWatch(folder.path) { _, change in log.note(change.name ?? "") }
            loop.add(watch, forMode: .modalPanel)
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            log.observe(loop, [.afterWaiting])
            whenAsleep(loop) { folder.write("text", to: "file") }
            loop.run(mode: .default, for: .milliseconds(30))
            #expect(log.entries == ["afterWaiting"])
            let result = loop.run(
                mode: .modalPanel,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .handledSource)
            #expect(log.entries == ["afterWaiting", "file"])
            watch.invalidate()
        }
    }

    /// After a rest, the path is all that is known of what was watched.
    @Test(arguments: [true, false])
    func aWatchThatRestsEndsIfThePathDoesNotReferToItAnyMore(toAnother: Bool) throws {
        try withLoop { loop in
            let parent = TemporaryFolder()
            let (path, moved) = ("\(parent.path)/watched", "\(parent.path)/moved")
            mkdir(path, 0o700)
            let watches = try (0..<40).map { _ in try FileWatch(path) { _, _ in } }
            for watch in watches { loop.add(watch, forMode: .default) }
            rename(path, moved)
            if toAnother { mkdir(path, 0o700) }
            let isOver = SharedBox(false)
            let writers = startWriters(in: parent, "moved/", until: isOver)
            let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { _ in
                if watches.contains(where: { !$0.isValid }) { loop.stop() }
            }
            loop.add(timer, forMode: .default)
            // Under the thread sanitizer the writers take a minute until a watch rests.
            #expect(loop.run(mode: .default, for: .seconds(600)) == .stopped)
            isOver.value = true
            writers.forEach { $0.join() }
            watches.forEach { $0.invalidate() }
        }
    }

    @Test func aBurstIsBoundedAndSaysSo() throws {
        try withLoop { loop in
            let folder = TemporaryFolder()
            let count = Box(0)
            let last = Box<FileWatch.Change?>(nil)
            let watch = try FileWatch(folder.path) { _, change in
                count.value += 1
                last.value = change
            }
            loop.add(watch, forMode: .modalPanel)
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            for number in 0..<1_500 { folder.write("", to: "\(number)") }
            loop.run(mode: .default, for: .milliseconds(10))
            for _ in 0..<1_200 { loop.run(mode: .modalPanel, for: .zero) }
            #expect(count.value == FileWatch.capacity + 1)
            #expect(last.value?.kinds == .overflowed)
            folder.write("", to: "more")
            loop.run(mode: .modalPanel, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(last.value?.name == "more")
            watch.invalidate()
        }
    }

    // MARK: Failure

    @Test func pathsThatCannotBeWatchedThrow() throws {
        withLoop { _ in
            #expect(code(of: "/no/such/path") == .noSuchFile)
            #expect(code(of: "") == .noSuchFile)
            #expect(code(of: "/tmp\0") == .invalidArgument)
        }
    }

    @Test func aFullTableOfDescriptorsThrows() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                try withLoop { loop in
                    let table = FullTable()
                    precondition(code(of: "/tmp") == .noDescriptorsLeft)
                    table.leave(1)
                    let watch = try FileWatch("/tmp") { _, _ in }
                    precondition(watch.isValid)
                    table.clear()
                }
            }
        }
    }

    @Test func aThousandWatchesLeaveNothingBehind() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                onAnotherThread { withLoop { _ in _ = try? FileWatch("/tmp") { _, _ in } } }
                let before = openDescriptorCount()
                onAnotherThread {
                    let loop = UVRunLoop.current
                    for number in 0..<1_000 {
                        guard let watch = try? FileWatch("/tmp", handler: { _, _ in }) else {
                            preconditionFailure("The path cannot be watched.")
                        }
                        loop.add(watch, forMode: .default)
                        // The others are invalidated by the end of the loop, or released.
                        if number % 3 == 0 { watch.invalidate() }
                        if number % 3 == 1 { loop.remove(watch, forMode: .default) }
                    }
                }
                precondition(openDescriptorCount() == before)
            }
        }
    }

    @Test func theEndOfTheLoopInvalidatesAWatchInNoMode() {
        let watch = SharedBox<FileWatch?>(nil)
        onAnotherThread {
            watch.value = try? FileWatch("/tmp") { _, _ in }
            #expect(watch.value?.isValid == true)
        }
        #expect(watch.value?.isValid == false)
    }

    @Test func handlersAreReleasedOnTheirThread() throws {
        try withLoop { loop in
            let released = Signal()
            let watch = try watch(announcingItsRelease: released)
            loop.add(watch, forMode: .default)
            onAnotherThread { watch.invalidate() }
            #expect(!watch.isValid)
            loop.run(mode: .default, for: .zero)
            #expect(released.hasCome)
        }
    }

    // MARK: Tasks

    @Test func aTaskTakesTheChanges() async throws {
        try await UVRunLoop.withThread { loop in
            let folder = TemporaryFolder()
            let watch = try await loop.watch(folder.path)
            var names: [String] = []
            mkdir("\(folder.path)/0", 0o700)
            for await change in watch.changes {
                names.append(change.name ?? "")
                guard names.count < 20 else { break }
                mkdir("\(folder.path)/\(names.count)", 0o700)
            }
            #expect(names == (0..<20).map { "\($0)" })
            watch.invalidate()
            #expect(await next(of: watch) == nil)
        }
    }

    @Test func aSequenceEndsWhenTheWatchBecomesInvalid() async throws {
        try await UVRunLoop.withThread { loop in
            let watch = try await loop.watch("/proc/self")
            let task = Task { await next(of: watch) }
            loop.perform { watch.invalidate() }
            #expect(await task.value == nil)
        }
    }

    @Test func aCancelledTaskGetsNoChange() async throws {
        try await UVRunLoop.withThread { loop in
            let folder = TemporaryFolder()
            let watch = try await loop.watch(folder.path)
            let task = Task { await next(of: watch) }
            task.cancel()
            #expect(await task.value == nil)
            mkdir("\(folder.path)/kept", 0o700)
            #expect(await next(of: watch)?.name == "kept")
            watch.invalidate()
        }
    }

    @Test func aTaskIsToldThatAPathCannotBeWatched() async throws {
        try await UVRunLoop.withThread { loop in
            await #expect(throws: UVRunLoop.SystemError.self) {
                try await loop.watch("/no/such/path")
            }
            return
        }
    }
}

private func next(of watch: FileWatch) async -> FileWatch.Change? {
    var iterator = watch.changes.makeAsyncIterator()
    return await iterator.next()
}

private func code(of path: String) -> UVRunLoop.SystemError.Code? {
    code { () throws(UVRunLoop.SystemError) in _ = try FileWatch(path) { _, _ in } }
}

/// Makes a watch whose handler may be released on this thread only.
private func watch(announcingItsRelease released: Signal) throws -> FileWatch {
    let home = ThreadIdentity.current
    let farewell = Farewell {
        #expect(ThreadIdentity.current == home)
        released.send()
    }
    return try FileWatch("/tmp") { _, _ in withExtendedLifetime(farewell) {} }
}

/// Starts threads that make and remove files, faster than a loop reads of it.
private func startWriters(
    in folder: TemporaryFolder,
    _ prefix: String = "",
    until isOver: SharedBox<Bool>
) -> [RunningThread] {
    (0..<2).map { number in
        startThread {
            while !isOver.value {
                folder.write("", to: "\(prefix)\(number)")
                unlink("\(folder.path)/\(prefix)\(number)")
            }
        }
    }
}
