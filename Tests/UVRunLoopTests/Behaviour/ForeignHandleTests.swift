import CUV
import Glibc
import Testing

@testable import UVRunLoop

/// Other people's handles in the libuv loop of a run loop.
@Suite(.timeLimit(.minutes(15))) struct ForeignHandleTests {
    /// On a thread of its own: what other tests on this one have left to be released would end the
    /// sleep, too.
    @Test func aTimerOfLibuvsFiresAndEndsTheSleepAsAWakeUp() {
        onAnotherThread {
            withLoop(.uv) { loop, log in
                loop.add(UVRunLoop.Source { _ in }, forMode: .default)
                loop.withUVLoop { _ in }
                loop.run(mode: .default, for: .zero)
                log.observe(loop)
                let timer = guestTimer(in: loop, after: 5) { _ in
                    log.note("timer")
                    loop.stop()
                }
                #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
                let pass = ["beforeTimers", "beforeSources", "beforeWaiting"]
                let story = ["entry"] + pass + ["timer", "afterWaiting", "exit"]
                #expect(log.entries == story)
                timer.close()
            }
        }
    }

    @Test func aCallbackThatAsksNothingOfTheLoopStillMakesItPass() {
        withLoop(.uv) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let count = Box(0)
            let timer = guestTimer(in: loop, after: 1, every: 1) { timer in
                count.value += 1
                // On a busy machine the pass of the stop would find it due once more.
                if count.value == 5 { uv_timer_stop(timer.raw) }
            }
            let observer = UVRunLoop.Observer(activities: .beforeTimers) { _, _ in
                if count.value >= 5 { loop.stop() }
            }
            loop.add(observer, forMode: .default)
            let result = loop.run(
                mode: .default,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .stopped)
            #expect(count.value == 5)
            timer.close()
        }
    }

    /// The first change ends the sleep; the loop must take the second one into account, too.
    @Test func everyChangeThatACallbackMakesCounts() {
        withLoop(.uv) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let late = UVRunLoop.Timer(after: .seconds(3600)) { _ in }
            let guest = guestTimer(in: loop, after: 1) { _ in
                loop.add(late, forMode: .default)
                let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                    log.note("timer")
                    loop.stop()
                }
                loop.add(timer, forMode: .default)
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["timer"])
            late.invalidate()
            guest.close()
        }
    }

    @Test func aDescriptorThatLibuvWatchesIsServedInEveryMode() {
        withLoop(.uv) { loop, log in
            let pipe = Pipe()
            let poll = guestPoll(in: loop, pipe.readEnd) { _ in
                log.note("read \(pipe.read() ?? "nothing")")
            }
            for name in ["one", "two"] {
                let mode = UVRunLoop.Mode(rawValue: name)
                loop.add(UVRunLoop.Source { _ in }, forMode: mode)
                pipe.write(name)
                #expect(loop.run(mode: mode, for: .milliseconds(5)) == .timedOut)
            }
            #expect(log.entries == ["read one", "read two"])
            poll.close()
        }
    }

    /// The handle keeps its descriptor.
    @Test func aSourceForADescriptorThatAForeignHandleHasIsRefused() throws {
        try withLoop(.uv) { loop, log in
            let pipe = Pipe()
            addFarTimer(to: loop)
            let poll = guestPoll(in: loop, pipe.readEnd) { _ in
                log.note("read \(pipe.read() ?? "nothing")")
            }
            loop.run(mode: .default, for: .zero)
            let source = try portReader(pipe) { log.note("source") }
            loop.add(source, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["source"] && !source.isValid)
            for data in ["one", "two"] {
                pipe.write(data)
                loop.run(mode: .default, for: .zero)
            }
            #expect(log.entries == ["source", "read one", "read two"])
            poll.close()
        }
    }

    @Test func aMessageOfAnotherThreadToLibuvEndsTheSleep() {
        withLoop(.uv) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let guest = Guest<uv_async_t>(in: loop) { uvLoop, async in
                uv_async_init(uvLoop, async) { Guest.call($0) }
            } action: { _ in
                log.note("message")
                loop.stop()
            }
            let async = Unchecked(guest.raw)
            elsewhere(after: .milliseconds(3), loop) { uv_async_send(async.value) }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["message"])
            guest.close()
        }
    }

    @Test func handlesOfLibuvKeepNoModeFromBeingEmpty() {
        withLoop(.uv) { loop, log in
            let timer = guestTimer(in: loop, after: 0) { _ in log.note("timer") }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == [])
            timer.close()
        }
    }

    /// On a thread of its own, for the same reason.
    @Test func aLoopWithHandlesThatHaveNothingToDoIsIdle() {
        onAnotherThread {
            withLoop(.uv) { loop, log in
                let pipe = Pipe()
                let foreignHandles = guestPoll(in: loop, pipe.readEnd) { _ in }
                let timer = guestTimer(in: loop, after: 60_000) { _ in }
                loop.add(UVRunLoop.Source { _ in }, forMode: .default)
                log.observe(loop, .beforeWaiting)
                #expect(loop.run(mode: .default, for: .milliseconds(40)) == .timedOut)
                // One sleep, and one before it that was none: libuv took notice of the new handle.
                #expect(log.entries.count <= 2)
                foreignHandles.close()
                timer.close()
            }
        }
    }

    @Test func theLoopsOwnItemsAreServedAsEver() throws {
        try withLoop(.uv) { loop, log in
            let pipes = [Pipe(), Pipe()]
            let guest = guestPoll(in: loop, pipes[0].readEnd) { _ in
                log.note("guest \(pipes[0].read() ?? "nothing")")
            }
            let source = try UVRunLoop.DescriptorSource(
                pipes[1].readEnd,
                events: .readable
            ) { _, _ in
                log.note("source \(pipes[1].read() ?? "nothing")")
            }
            let timer = UVRunLoop.Timer(after: .milliseconds(2), interval: .milliseconds(2)) { _ in
                log.note("timer")
            }
            loop.add(source, forMode: .default)
            loop.add(timer, forMode: .default)
            for round in 0..<20 {
                log.clear()
                pipes[0].write("\(round)")
                pipes[1].write("\(round)")
                run(loop) { Set(log.entries).count >= 3 }
                #expect(log.entries.contains("guest \(round)"))
                #expect(log.entries.contains("source \(round)"))
            }
            #expect(log.entries.contains("timer"))
            guest.close()
        }
    }

    @Test func aCallbackOfLibuvsMayDoWhateverAnyThreadMay() throws {
        try withLoop(.uv) { loop, log in
            let pipe = Pipe()
            pipe.write("x")
            let signalled = UVRunLoop.Source { _ in log.note("source") }
            loop.add(signalled, forMode: .default)
            let removed = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                log.note("removed")
            }
            let other = UVRunLoop.Mode(rawValue: "other")
            loop.add(removed, forMode: other)
            loop.run(mode: other, for: .zero)
            log.clear()
            let timer = guestTimer(in: loop, after: 2) { _ in
                loop.remove(removed, forMode: other)
                loop.add(removed, forMode: .default)
                removed.invalidate()
                loop.add(reader(pipe, log), forMode: .default)
                loop.add(
                    UVRunLoop.Timer(after: .zero) { _ in log.note("timer") },
                    forMode: .default
                )
                loop.performLocally { log.note("local block") }
                loop.perform { log.note("block") }
                signalled.signal()
                loop.wakeUp()
                #expect(loop.nestingLevel == 1 && loop.currentMode == .default)
            }
            let wanted: Set = ["source", "timer", "local block", "block", "read x"]
            run(loop) { log.entries.count >= wanted.count }
            #expect(Set(log.entries) == wanted)
            #expect(log.entries.count == wanted.count)
            timer.close()
        }
    }

    /// libuv knows descriptors by their numbers.
    @Test func aCallbackMayGiveLibuvTheNumberOfADescriptorThatASourceHad() {
        withLoop(.uv) { loop, log in
            let (old, new) = (Pipe(), Pipe())
            let source = reader(old, log)
            loop.add(source, forMode: .default)
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.run(mode: .default, for: .zero)
            let foreignHandles = Box<[Guest<uv_poll_t>]>([])
            let timer = guestTimer(in: loop, after: 1) { _ in
                source.invalidate()
                #expect(dup2(new.readEnd, old.readEnd) == old.readEnd)
                foreignHandles.value.append(
                    guestPoll(in: loop, old.readEnd) { _ in
                        log.note("guest \(new.read() ?? "nothing")")
                    }
                )
                new.write("y")
            }
            run(loop) { !log.entries.isEmpty }
            #expect(log.entries == ["guest y"])
            for guest in foreignHandles.value { guest.close() }
            timer.close()
        }
    }

    @Test func aCallbackInANestedRunWakesTheOuterRunToo() {
        withLoop(.uv) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            for mode in [inner, .default] { loop.add(UVRunLoop.Source { _ in }, forMode: mode) }
            let isDone = Box(false)
            let timer = guestTimer(in: loop, after: 2) { _ in isDone.value = true }
            loop.performLocally {
                #expect(loop.run(mode: inner, for: .milliseconds(20)) == .timedOut)
                log.note("inner is done")
            }
            let observer = UVRunLoop.Observer(activities: .beforeTimers) { _, _ in
                if isDone.value { loop.stop() }
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["inner is done"])
            timer.close()
        }
    }

    /// A poll is skipped before the handler is called, and made up for when the nested run begins.
    ///
    /// In the second case the loop is lent for the first time in the handler.
    @Test(arguments: [true, false])
    func aCallbackBelongsToTheRunThatTheHandlerBegins(isLentBefore: Bool) throws {
        try withLoop(.uv) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            addFarTimer(to: loop, in: inner)
            if isLentBefore { loop.withUVLoop { _ in } }
            let timers = Box<[Guest<uv_timer_t>]>([])
            let port = UVRunLoop.Port { _, _ in
                let timer = guestTimer(in: loop, after: 0) { _ in
                    log.note("callback, level \(loop.nestingLevel)")
                    #expect(loop.currentMode == inner)
                    loop.stop()
                }
                timers.value.append(timer)
                log.note("inner \(loop.run(mode: inner, for: .seconds(60)))")
                loop.performLocally { loop.stop() }
            }
            let pipe = Pipe()
            let source = try portReader(pipe, noting: "read", in: log) {
                _ = port.send(UVRunLoop.PortMessage(), limit: .zero)
            }
            loop.add(port, forMode: .default)
            loop.add(source, forMode: .default)
            pipe.write("x")
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["read", "callback, level 2", "inner stopped"])
            for timer in timers.value { timer.close() }
            port.invalidate()
            source.invalidate()
        }
    }

    /// A loop that was lent polls in each pass.
    @Test(arguments: [true, false])
    func aCallbackComesBetweenTwoMessages(isLentBefore: Bool) {
        withLoop(.uv) { loop, log in
            if isLentBefore { loop.withUVLoop { _ in } }
            let timers = Box<[Guest<uv_timer_t>]>([])
            let port = UVRunLoop.Port { _, message in
                log.note("\(message.id)")
                if message.id == 2 { return loop.stop() }
                timers.value.append(guestTimer(in: loop, after: 0) { _ in log.note("callback") })
            }
            loop.add(port, forMode: .default)
            for id in [1, 2] as [Int32] {
                _ = port.send(UVRunLoop.PortMessage(id: id), limit: .zero)
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["1", "callback", "2"])
            for timer in timers.value { timer.close() }
            port.invalidate()
        }
    }

    @Test func anIdleHandleKeepsTheLoopPassing() {
        withLoop(.uv) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let count = Box(0)
            let guest = Guest<uv_idle_t>(in: loop) { uvLoop, idle in
                uv_idle_init(uvLoop, idle)
                uv_idle_start(idle) { Guest.call($0) }
            } action: { _ in
                count.value += 1
                if count.value == 100 { loop.stop() }
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            guest.close()
        }
    }

    @Test func aStopOfLibuvsIsNoStopOfTheLoops() {
        withLoop(.uv) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let timer = guestTimer(in: loop, after: 2) { timer in
                log.note("timer")
                uv_stop(timer.raw.pointee.loop)
            }
            loop.withUVLoop { uv_stop($0) }
            run(loop) { !log.entries.isEmpty }
            #expect(loop.run(mode: .default, for: .milliseconds(1)) == .timedOut)
            #expect(log.entries == ["timer"])
            timer.close()
        }
    }

    @Test func theBodysValueAndErrorComeBack() {
        withLoop(.uv) { loop, _ in
            #expect(loop.withUVLoop { uv_loop_alive($0) } != 0)
            let error = RunLoopError(.tooManyOpenFiles)
            #expect(throws: error) {
                try loop.withUVLoop { _ throws(RunLoopError) in throw error }
            }
        }
    }
}

/// Runs the loop until something is the case, or so long that it never will be.
private func run(_ loop: UVRunLoop, until isDone: () -> Bool) {
    let end = loop.now + .seconds(30)
    while !isDone(), loop.now < end { loop.run(mode: .default, for: .milliseconds(3)) }
}

private func reader(_ pipe: Pipe, _ log: EventLog) -> UVRunLoop.DescriptorSource {
    let source = try? UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
        log.note("read \(pipe.read() ?? "nothing")")
    }
    guard let source else { preconditionFailure("A pipe can be watched.") }
    return source
}
