import Glibc
import Testing

@testable import UVRunLoop

/// Errors and hang-ups, which no mask keeps the kernel from reporting.
@Suite(.timeLimit(.minutes(15))) struct HangUpTests {
    typealias Events = UVRunLoop.DescriptorSource.Events

    private let other = UVRunLoop.Mode("hang-up, other")

    // After an error libuv stops watching by itself: https://github.com/libuv/libuv/issues/3796
    @Test func anErrorIsToldAgainToASourceThatIsAddedAgain() throws {
        try withCountedLoop { loop, _ in
            let pipe = Pipe()
            let log = EventLog()
            let source = try noting(log, pipe.writeEnd, .writable)
            loop.add(source, forMode: .default)
            pipe.closeReadEnd()
            for round in 1...3 {
                loop.run(mode: .default, for: .milliseconds(30), returnAfterSourceHandled: true)
                #expect(log.entries.count == round)
                loop.run(mode: .default, for: .milliseconds(3))
                loop.add(source, forMode: .default)
            }
            #expect(log.entries.allSatisfy { $0 == "hangUp writable" })
            source.invalidate()
        }
    }

    /// The kernel reports it as writable and hung up, and libuv as writable.
    @Test func aTerminalWhoseOtherSideWasClosedIsAHangUpAlsoWhileItIsWritable() throws {
        try withCountedLoop { loop, _ in
            let (near, far) = terminal()
            defer { close(near) }
            let log = EventLog()
            let writer = try UVRunLoop.DescriptorSource(near, events: .writable) { _, events in
                guard events.contains(.hangUp) else { return }
                log.note("\(events)")
                loop.stop()
            }
            let watcher = try noting(log, near, .hangUp)
            for source in [writer, watcher] { loop.add(source, forMode: .default) }
            close(far)
            // A process that another test starts may hold the closed side for a moment.
            #expect(loop.run(mode: .default, for: .seconds(10)) == .stopped)
            loop.run(mode: .default, for: .milliseconds(5))
            #expect(Set(log.entries) == ["[writable, hangUp]", "hangUp"])
            #expect(log.entries.count == 2)
            for source in [writer, watcher] { source.invalidate() }
        }
    }

    /// The kernel reports it as writable and hung up, too.
    @Test(arguments: [AF_INET, AF_UNIX], [Events.writable, .readable, .hangUp])
    func aSocketThatWasNeverConnectedIsAHangUpOnce(family: CInt, events: Events) throws {
        try withCountedLoop { loop, _ in
            let socket = socket(family, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
            defer { close(socket) }
            let log = EventLog()
            let source = try noting(log, socket, events)
            loop.add(source)
            #expect(serveOne(loop) == .handledSource)
            loop.run(mode: .default, for: .milliseconds(5))
            #expect(log.entries.count == 1)
            #expect(log.entries.allSatisfy { $0.hasPrefix("hangUp") })
            source.invalidate()
        }
    }

    private func terminal() -> (near: CInt, far: CInt) {
        var (near, far): (CInt, CInt) = (-1, -1)
        precondition(openpty(&near, &far, nil, nil, nil) == 0, "There is no terminal.")
        for end in [near, far] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (near, far)
    }

    @Test func anErrorIsToldAgainToASourceThatIsAddedAgainByItsHandler() throws {
        try withCountedLoop { loop, _ in
            let pipe = Pipe()
            let calls = Box(0)
            let source = try UVRunLoop.DescriptorSource(
                pipe.writeEnd,
                events: .writable
            ) { source, events in
                #expect(events == [.writable, .hangUp])
                calls.value += 1
                if calls.value == 3 { loop.stop() } else { loop.add(source, forMode: .default) }
            }
            loop.add(source, forMode: .default)
            pipe.closeReadEnd()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(calls.value == 3)
            source.invalidate()
        }
    }

    @Test func anErrorIsToldInEveryModeThatHoldsASource() throws {
        try withCountedLoop { loop, _ in
            let pipe = Pipe()
            let log = EventLog()
            let sources = [
                try noting(log, pipe.writeEnd, .writable),
                try noting(log, pipe.writeEnd, .writable),
            ]
            loop.add(sources[0], forMode: .default)
            loop.add(sources[1], forMode: other)
            pipe.closeReadEnd()
            loop.run(mode: .default, for: .milliseconds(20))
            #expect(log.entries.count == 1)
            loop.run(mode: other, for: .milliseconds(20))
            #expect(log.entries.count == 2)
            for source in sources { source.invalidate() }
        }
    }

    @Test func aHangUpIsToldAgainToASourceThatIsAddedAgain() throws {
        try withCountedLoop { loop, _ in
            let pipe = Pipe()
            let log = EventLog()
            let source = try noting(log, pipe.readEnd, .readable)
            loop.add(source, forMode: .default)
            pipe.closeWriteEnd()
            for round in 1...3 {
                loop.run(mode: .default, for: .milliseconds(30), returnAfterSourceHandled: true)
                #expect(log.entries.count == round)
                loop.run(mode: .default, for: .milliseconds(3))
                loop.add(source, forMode: .default)
            }
            #expect(log.entries.allSatisfy { $0 == "hangUp readable" })
            source.invalidate()
        }
    }

    @Test func aHangUpThatWasToldKeepsNoSleepAwake() throws {
        for isError in [false, true] {
            try withCountedLoop { loop, driver in
                let pipe = Pipe()
                let log = EventLog()
                let source = try noting(
                    log,
                    isError ? pipe.writeEnd : pipe.readEnd,
                    isError ? .writable : .readable
                )
                loop.add(source, forMode: .default)
                if isError { pipe.closeReadEnd() } else { pipe.closeWriteEnd() }
                loop.run(mode: .default, for: .milliseconds(30), returnAfterSourceHandled: true)
                driver.counts.waits = 0
                #expect(loop.run(mode: .default, for: .milliseconds(50)) == .timedOut)
                #expect(driver.counts.waits <= 5)
                #expect(log.entries.count == 1)
                source.invalidate()
            }
        }
    }

    @Test func aHangUpInAnotherModeKeepsNoSleepAwakeAndIsToldThere() throws {
        try withCountedLoop { loop, driver in
            let pipe = Pipe()
            let log = EventLog()
            let source = try noting(log, pipe.readEnd, .readable)
            loop.add(source, forMode: .default)
            loop.add(UVRunLoop.Source { _ in }, forMode: other)
            loop.run(mode: .default, for: .zero)
            pipe.closeWriteEnd()
            #expect(loop.run(mode: other, for: .milliseconds(50)) == .timedOut)
            #expect(driver.counts.waits <= 5)
            #expect(log.entries == [])
            loop.run(mode: .default, for: .milliseconds(50), returnAfterSourceHandled: true)
            #expect(log.entries == ["hangUp readable"])
            source.invalidate()
        }
    }

    // A hang-up comes after the data is read. Nobody reads it here, and waiting for that must cost
    // nothing.
    @Test func aHangUpBehindUnreadDataKeepsNoSleepAwake() throws {
        try withCountedLoop { loop, driver in
            let pipe = Pipe()
            let log = EventLog()
            let source = try noting(log, pipe.readEnd, .hangUp)
            loop.add(source, forMode: .default)
            pipe.write("x")
            pipe.closeWriteEnd()
            #expect(loop.run(mode: .default, for: .milliseconds(50)) == .timedOut)
            #expect(driver.counts.waits <= 5)
            #expect(log.entries.count <= 1)
            source.invalidate()
        }
    }

    @Test func aSourceThatOnlyWaitsForTheHangUpIsToldOfIt() throws {
        try withCountedLoop { loop, _ in
            let pipe = Pipe()
            let log = EventLog()
            let source = try noting(log, pipe.readEnd, .hangUp)
            loop.add(source, forMode: .default)
            elsewhere(after: .milliseconds(5), loop) { pipe.closeWriteEnd() }
            withHangGuard {
                _ = loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            }
            #expect(log.entries == ["hangUp"])
            source.invalidate()
        }
    }

    /// What came before a reset can be read after it.
    @Test(arguments: DriverKind.allCases)
    func dataAheadOfAnErrorIsReadFirst(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let (near, far) = socketPair()
            let sent = [UInt8](repeating: 1, count: 20_000)
            #expect(write(far, sent, sent.count) == sent.count)
            // A peer that ends with unread data resets the connection.
            #expect(write(near, "x", 1) == 1)
            closePeer(far, of: near)
            let count = Box(0)
            let source = try UVRunLoop.DescriptorSource(near, events: .readable) { _, events in
                var bytes = [UInt8](repeating: 0, count: 8_000)
                count.value += max(0, read(near, &bytes, bytes.count))
                if events.contains(.hangUp) { log.note("hangUp after \(count.value)") }
            }
            loop.add(source, forMode: .default)
            loop.run(until: log, has: 1)
            #expect(count.value == sent.count)
            #expect(log.entries == ["hangUp after 20000"])
            source.invalidate()
            close(near)
        }
    }

    /// libuv forgets a descriptor with an error, which the kernel goes on reporting.
    @Test func anErrorThatASleepHasFoundIsFoundByNoPassAfterThat() throws {
        try withCountedLoop { loop, driver in
            let pipe = Pipe()
            pipe.closeReadEnd()
            let log = EventLog()
            let source = try noting(log, pipe.writeEnd, .writable)
            loop.add(source, forMode: .default)
            withHangGuard {
                _ = loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            }
            driver.counts = .init()
            for _ in 0..<10 { loop.run(mode: .default, for: .zero) }
            #expect(log.entries == ["hangUp writable"])
            #expect(driver.counts.polls == 10 && driver.counts.reports == 0)
            source.invalidate()
        }
    }

    /// A loop that finds as many ready does not let libuv sleep, which would forget them.
    @Test func errorsThatWereToldKeepNoSleepAwakeHoweverManyThereAre() throws {
        try withCountedLoop { loop, driver in
            let pipe = Pipe()
            let copies = (0..<600).map { _ in dup(pipe.writeEnd) }
            defer { for copy in copies { close(copy) } }
            pipe.closeReadEnd()
            let told = Box(0)
            let sources = try copies.map { descriptor in
                try UVRunLoop.DescriptorSource(descriptor, events: .writable) { _, _ in
                    told.value += 1
                    if told.value == 600 { loop.stop() }
                }
            }
            for source in sources { loop.add(source, forMode: .default) }
            withHangGuard { _ = loop.run(mode: .default, for: nil) }
            driver.counts = .init()
            loop.run(mode: .default, for: .milliseconds(20))
            #expect(driver.counts.polls + driver.counts.waits <= 10)
            #expect(told.value == 600)
            for source in sources { source.invalidate() }
        }
    }

    /// The kernel reports a peer that sends no more for as long as it is asked.
    @Test func aPeerThatSendsNoMoreKeepsNoSleepAwake() throws {
        try withCountedLoop { loop, driver in
            let ends = socketPair()
            defer { for end in [ends.0, ends.1] { close(end) } }
            let log = EventLog()
            let source = try noting(log, ends.0, .hangUp)
            loop.add(source, forMode: .default)
            #expect(shutdown(ends.1, CInt(SHUT_WR)) == 0)
            #expect(loop.run(mode: .default, for: .milliseconds(50)) == .timedOut)
            #expect(driver.counts.waits <= 6)
            source.invalidate()
        }
    }

    @Test func dataAheadOfAHangUpIsReadFirst() throws {
        try withCountedLoop { loop, _ in
            let pipe = Pipe()
            let log = EventLog()
            let source = try UVRunLoop.DescriptorSource(
                pipe.readEnd,
                events: .readable
            ) { _, events in
                log.note("\(events.contains(.hangUp) ? "hangUp" : "data") \(pipe.read(2) ?? "-")")
                if events.contains(.hangUp) { loop.stop() }
            }
            loop.add(source, forMode: .default)
            pipe.write("abc")
            pipe.closeWriteEnd()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["data ab", "data c", "hangUp "])
            source.invalidate()
        }
    }

    private func noting(
        _ log: EventLog,
        _ descriptor: CInt,
        _ events: Events
    ) throws -> UVRunLoop.DescriptorSource {
        try UVRunLoop.DescriptorSource(descriptor, events: events) { _, events in
            var words: [String] = []
            if events.contains(.hangUp) { words.append("hangUp") }
            if events.contains(.readable) { words.append("readable") }
            if events.contains(.writable) { words.append("writable") }
            log.note(words.joined(separator: " "))
        }
    }
}
