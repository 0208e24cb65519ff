import Testing
import UVRunLoop
import UVRunLoopPorts

@testable import Guide

/// Listings 3-16 to 3-19: a main thread and a worker that know each other's ports by name.
@Suite(.timeLimit(.minutes(15))) struct MessagePortListingTests {
    @Test func aPortThatIsRegisteredIsFoundByItsNameWhichIsUnique() throws {
        #expect(
            try lines(of: "3-16") == [
                "message 101: hello",
                "within a process a name means one port: true",
                "without a port to the name: no process serves the name",
            ]
        )
    }

    @Test func aWorkerNeedsTheNameOfThePortToMakeTheConnection() throws {
        #expect(
            try lines(of: "3-17") == [
                "main: the port is installed",
                "worker: I check in",
                "main: a worker has checked in",
                "main: the worker is gone",
            ]
        )
    }

    /// The work of the main thread's loop in the meantime makes the worker check in.
    @Test func theMainThreadGoesOnWhileItWaitsForTheCheckIn() throws {
        let story = try lines { log in
            let (activeThreads, name) = (ActiveThreads(), PortNames.unique("main"))
            let port = try UVRunLoop.MessagePort.local(named: name) { _, message in
                handleMainThreadMessage(message, activeThreads, log)
            }
            UVRunLoop.current.add(port, forMode: .default)
            let worker = try UVRunLoop.Thread(name: "worker")
            var ticks = 0
            let ticker = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { ticker in
                ticks += 1
                log.note("main: at work")
                guard ticks == 3 else { return }
                ticker.invalidate()
                worker.runLoop.requestPerform { serverThreadMain(name, log) }
            }
            UVRunLoop.current.add(ticker, forMode: .default)
            runCurrentLoop { !activeThreads.ports.isEmpty }
            worker.stop()
            worker.join()
            port.invalidate()
        }
        #expect(
            story == [
                "main: at work",
                "main: at work",
                "main: at work",
                "worker: I check in",
                "main: a worker has checked in",
            ]
        )
    }

    @Test func aCheckInGivesTheNameUnderWhichThePortOfTheWorkerIsObtained() throws {
        #expect(
            try lines(of: "3-18") == [
                "main: message 7 means nothing to me",
                "main: a worker has checked in",
                "main: a worker has checked in",
                "main: the worker has no port: no process serves the name",
                "main: the worker's port was kept: true",
            ]
        )
    }

    @Test func aWorkerThatHasCheckedInHandlesTheEventsThatAreSentToItsPort() throws {
        #expect(
            try lines(of: "3-19") == [
                "main: the port is installed",
                "worker: I check in",
                "main: a worker has checked in",
                "worker: message 101",
                "main: the reply is desserts",
            ]
        )
    }
}
