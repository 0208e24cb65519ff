import CUV
import Glibc
import Testing
import UVRunLoop

/// The end of threads with handles, and the rules: in processes of their own.
@Suite(.timeLimit(.minutes(15))) struct ForeignHandleRuleTests {
    @Test func aRunFromACallbackTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { runFromACallback() }
        #expect(says("cannot run the loop", result?.standardErrorContent))
    }

    @Test func aRunInAnEmptyModeFromACallbackTrapsToo() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { runFromACallback(in: UVRunLoop.Mode("foreign handle rules, empty")) }
        #expect(says("cannot run the loop", result?.standardErrorContent))
    }

    @Test func libuvsOwnRunTrapsInACallback() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { uvRunFromACallback() }
        #expect(says("Only the run loop may call uv_run", result?.standardErrorContent))
    }

    @Test func libuvsOwnRunTrapsOutsideToo() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { uvRunFromABody() }
        #expect(says("Only the run loop may call uv_run", result?.standardErrorContent))
    }

    /// Which is called before the loop's own.
    @Test func libuvsOwnRunTrapsInThePrepareCallbackOfAForeignHandle() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { uvRunFromAPrepareCallback() }
        #expect(says("Only the run loop may call uv_run", result?.standardErrorContent))
    }

    /// libuv's time does not go on while the loop polls without it.
    @Test func aTimerStartedInABodyCountsFromThen() {
        withLoop(.uv) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            usleep(60_000)
            loop.run(mode: .default, for: .zero)
            let began = UVRunLoop.currentInstant
            let timer = Guest<uv_timer_t>(in: loop) { uvLoop, timer in
                uv_timer_init(uvLoop, timer)
                uv_timer_start(timer, { Guest.call($0) }, 50, 0)
            } action: { guest in
                // libuv counts whole milliseconds.
                #expect(began.duration(to: UVRunLoop.currentInstant) >= .milliseconds(49))
                log.note("fired")
                guest.close()
                loop.stop()
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["fired"])
            withExtendedLifetime(timer) {}
        }
    }

    /// `uv_stop` ends at most a sleep, whoever calls it where.
    @Test func aStopOutsideOfLibuvKeepsNoDescriptorFromBeingServed() throws {
        try withLoop(.uv) { loop, log in
            let pipe = Pipe()
            pipe.write("x")
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                log.note("readable")
            }
            loop.add(source, forMode: .default)
            let uvLoop = loop.withUVLoop { $0 }
            let observer = UVRunLoop.Observer(activities: .beforeTimers) { _, _ in uv_stop(uvLoop) }
            loop.add(observer, forMode: .default)
            for _ in 1...2 {
                let result = loop.run(mode: .default, for: .zero, returnAfterSourceHandled: true)
                #expect(result == .handledSource)
            }
            #expect(log.entries == ["readable", "readable"])
            source.invalidate()
        }
    }

    @Test func lendingOnAnotherThreadTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { lendElsewhere() }
        #expect(says("belongs to another thread", result?.standardErrorContent))
    }

    @Test func lendingInVirtualTimeTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { withLoop(.manual) { loop, _ in loop.withUVLoop { _ in } } }
        #expect(says("virtual time", result?.standardErrorContent))
    }

    @Test func handlesThatAreOpenWhenTheThreadEndsLeaveNothingBehind() async {
        await #expect(processExitsWith: .success) { inQuietProcess { endWithHandles() } }
    }

    @Test func aRequestUnderWayWhenTheThreadEndsIsWaitedFor() async {
        await #expect(processExitsWith: .success) { inQuietProcess { endWithARequest(30_000) } }
    }

    @Test func aRequestThatDoesNotEndHoldsNoThread() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess { endWithARequest(3_600_000_000) }
        }
    }
}

private func uvRunFromABody() {
    UVRunLoop.current.withUVLoop { _ = uv_run($0, UV_RUN_NOWAIT) }
}

private func lendElsewhere() {
    let loop = UVRunLoop.current
    onAnotherThread { loop.withUVLoop { _ in } }
}

private func runFromACallback(in mode: UVRunLoop.Mode = .default) {
    let loop = UVRunLoop.current
    loop.add(UVRunLoop.Source { _ in }, forMode: .default)
    let timer = guestTimer(in: loop, after: 1) { _ in loop.run(mode: mode, for: .zero) }
    loop.run(mode: .default, for: .seconds(60))
    timer.close()
}

private func uvRunFromACallback() {
    let loop = UVRunLoop.current
    loop.add(UVRunLoop.Source { _ in }, forMode: .default)
    let timer = guestTimer(in: loop, after: 1) { uv_run($0.raw.pointee.loop, UV_RUN_NOWAIT) }
    loop.run(mode: .default, for: .seconds(60))
    timer.close()
}

private func uvRunFromAPrepareCallback() {
    let loop = UVRunLoop.current
    loop.add(UVRunLoop.Source { _ in }, forMode: .default)
    var hasRun = false
    let prepare = Guest<uv_prepare_t>(in: loop) { uvLoop, prepare in
        uv_prepare_init(uvLoop, prepare)
        uv_prepare_start(prepare) { Guest.call($0) }
    } action: { prepare in
        // It calls the handle once more.
        if !exchange(&hasRun, with: true) { uv_run(prepare.raw.pointee.loop, UV_RUN_NOWAIT) }
    }
    loop.run(mode: .default, for: .milliseconds(1))
    prepare.close()
}

private func endWithHandles() {
    let before = openDescriptorCount()
    for _ in 0..<5 {
        onAnotherThread {
            let loop = UVRunLoop.current
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let timer = guestTimer(in: loop, after: 1, every: 1) { _ in }
            let listener = Guest<uv_tcp_t>(in: loop) { uvLoop, tcp in
                var address = sockaddr_in()
                uv_tcp_init(uvLoop, tcp)
                uv_ip4_addr("127.0.0.1", 0, &address)
                withUnsafePointer(to: &address) { address in
                    address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        _ = uv_tcp_bind(tcp, $0, 0)
                    }
                }
            } action: { _ in
            }
            loop.run(mode: .default, for: .milliseconds(5))
            withExtendedLifetime((timer, listener)) {}
        }
    }
    // libuv has opened two for the whole process.
    let after = openDescriptorCount()
    precondition(after <= before + 2, "\(before) \(after)")
}

private func endWithARequest(_ microseconds: UInt32) {
    withHangGuard(seconds: 30) {
        let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)
        let work = Unchecked(request)
        let duration = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
        duration.pointee = microseconds
        request.pointee.data = UnsafeMutableRawPointer(duration)
        onAnotherThread {
            let loop = UVRunLoop.current
            loop.withUVLoop { uvLoop in
                let status = uv_queue_work(
                    uvLoop,
                    work.value,
                    { request in
                        if let duration = request?.pointee.data?.load(as: UInt32.self) {
                            usleep(duration)
                        }
                    },
                    nil
                )
                precondition(status == 0)
            }
        }
    }
}
