import Glibc
import Testing

@testable import UVRunLoop

/// Messages that are delivered without a pass between them, and what they must not delay.
@Suite(.timeLimit(.minutes(15))) struct DirectDeliveryTests {
    /// Runs a loop that another thread sends messages to as soon as it sleeps.
    ///
    /// - Parameters:
    ///   - log: Gets the number of each message.
    ///   - loop: The loop.
    ///   - driver: The loop's driver.
    ///   - beforehand: Called on that thread before it sends.
    ///   - handler: Called with the number of each message.
    private func runWithMessages(
        _ log: EventLog,
        _ loop: UVRunLoop,
        _ driver: CountingDriver,
        beforehand: @escaping @Sendable () -> Void = {},
        handler: @escaping (Int32) -> Void = { _ in }
    ) {
        let port = UVRunLoop.Port { _, message in
            log.note("\(message.id)")
            handler(message.id)
            if message.id == 9 { loop.stop() }
        }
        loop.add(port, forMode: .default)
        driver.whenWaiting = {
            onAnotherThread {
                beforehand()
                for id in Int32(1)...9 {
                    #expect(port.send(UVRunLoop.PortMessage(id: id), limit: .zero))
                }
            }
        }
        #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
        port.invalidate()
    }

    @Test func messagesWithNothingElseToDoNeedNoPollBetweenThem() throws {
        // On a busy machine more time passes than the result of a poll is reused for.
        try withCountedLoop(clockStands: true) { loop, driver in
            let log = EventLog()
            withHangGuard {
                runWithMessages(log, loop, driver, handler: { _ in usleep(1_200) })
            }
            #expect(log.entries == (1...9).map { "\($0)" })
            #expect(driver.counts.polls + driver.counts.waits <= 3)
        }
    }

    /// The kernel did not watch the port when the loop fell asleep.
    @Test(arguments: [true, false])
    func aReadyPortThatWasAddedDuringTheSleepIsServedInTurn(sleepsInFirstPass: Bool) throws {
        try withCountedLoop { loop, driver in
            if !sleepsInFirstPass { workInTheFirstPass(of: loop) }
            let (log, pipe) = (EventLog(), Pipe())
            pipe.write("x")
            let added = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                log.note("added")
                _ = pipe.read()
            }
            runWithMessages(log, loop, driver, beforehand: { loop.add(added, forMode: .default) })
            let position = try #require(log.entries.firstIndex(of: "added"))
            #expect(position <= 2)
            added.invalidate()
        }
    }

    @Test(arguments: [true, false])
    func whatAnotherThreadLetGoIsReleasedBeforeTheNextMessage(sleepsInFirstPass: Bool) throws {
        try withCountedLoop { loop, driver in
            if !sleepsInFirstPass { workInTheFirstPass(of: loop) }
            let log = EventLog()
            let source = sourceThatHolds(Box(Witness("capture", log)))
            runWithMessages(
                log,
                loop,
                driver,
                handler: { id in
                    if id == 3 { onAnotherThread { source.invalidate() } }
                }
            )
            #expect(log.entries.prefix(5) == ["1", "2", "3", "capture gone", "4"])
        }
    }
}

/// Has a loop sleep in its second pass: one that performs a source does not sleep, and a first one
/// skips no poll.
private func workInTheFirstPass(of loop: UVRunLoop) {
    let source = UVRunLoop.Source { $0.invalidate() }
    loop.add(source, forMode: .default)
    source.signal()
}

/// Returns a source whose handler captures something that is not `Sendable`, and nothing else does.
private func sourceThatHolds(_ capture: Box<Witness>) -> UVRunLoop.Source {
    UVRunLoop.Source { _ in withExtendedLifetime(capture) {} }
}
