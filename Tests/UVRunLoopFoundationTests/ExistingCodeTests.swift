import FoundationEssentials
import TestSupport
import Testing
import UVRunLoopFoundation

// Code written for Foundation, compiled against this library with two or three type aliases.
private typealias RunLoop = UVRunLoop
private typealias Timer = UVRunLoop.Timer
private typealias Port = UVRunLoop.Port

/// Code for Foundation compiles unchanged, and does the same.
@Suite(.timeLimit(.minutes(15))) struct ExistingCodeTests {
    @Test func aWorkerPollsWhatItWaitsFor() {
        withLoop { _ in
            let worker = Worker()
            worker.start()
            let runLoop = RunLoop.current
            let deadline = Date().addingTimeInterval(60)
            while !worker.isDone && Date() < deadline {
                runLoop.run(mode: .default, before: min(deadline, Date(timeIntervalSinceNow: 0.1)))
            }
            #expect(worker.isDone)
            #expect(worker.timer?.isValid == false)
        }
    }

    @Test func aPortKeepsALoopAlive() {
        withLoop { _ in
            let runLoop = RunLoop.current
            let port = Port()
            runLoop.add(port, forMode: .default)
            #expect(runLoop.limitDate(forMode: .default) == .distantFuture)
            #expect(runLoop.run(mode: RunLoop.Mode.default, before: .distantPast))
            runLoop.remove(port, forMode: .default)
            #expect(!runLoop.run(mode: RunLoop.Mode.default, before: .distantFuture))
            port.schedule(in: runLoop, forMode: .common)
            #expect(runLoop.contains(port, forMode: .default))
            port.remove(from: runLoop, forMode: .common)
            #expect(!runLoop.contains(port, forMode: .default))
        }
    }

    @Test func aPortTakesComponentsUntilADate() {
        withLoop { _ in
            let log = EventLog()
            let port = Port { _, message in
                log.note("\(message.id) \(message.bytes ?? [])")
                RunLoop.current.stop()
            }
            RunLoop.current.add(port, forMode: .default)
            let limit = Date(timeIntervalSinceNow: 60)
            #expect(port.send(before: limit, msgid: 7, components: [.bytes([1, 2])], from: nil))
            RunLoop.current.run()
            #expect(port.send(before: limit, components: nil, from: port, reserved: 0))
            RunLoop.current.run()
            port.invalidate()
            #expect(!port.send(before: limit, components: nil, from: nil))
            #expect(log.entries == ["7 [1, 2]", "0 []"])
        }
    }

    @Test func loopsTimersAndPortsAreEqualWhenTheyAreTheSame() {
        withLoop { loop in
            let timer = Timer(timeInterval: 1, repeats: false) { _ in }
            let other = Timer(timeInterval: 1, repeats: false) { _ in }
            #expect(RunLoop.current == loop && RunLoop.current != RunLoop.main)
            #expect(timer == timer && timer != other)
            #expect(Set([timer, other, timer]).count == 2)
            #expect([loop: 1][RunLoop.current] == 1)
            let (port, stranger) = (Port(), Port())
            #expect(port == port && port != stranger)
            #expect(Set([port, stranger, port]).count == 2)
        }
    }

    @Test func modesHaveFoundationsNames() {
        #expect(RunLoop.Mode.default.rawValue == "kCFRunLoopDefaultMode")
        #expect(RunLoop.Mode.common.rawValue == "kCFRunLoopCommonModes")
        #expect(RunLoop.Mode("custom") == RunLoop.Mode(rawValue: "custom"))
    }

    @Test func aTrailingClosureIsNotAmbiguous() {
        withLoop { _ in
            let log = EventLog()
            RunLoop.current.perform { log.note("in the default mode") }
            RunLoop.current.perform(inModes: [.common]) { log.note("in the common modes") }
            RunLoop.current.perform(inModes: [.default], block: { log.note("by name") })
            RunLoop.current.run()
            #expect(log.entries == ["in the default mode", "in the common modes", "by name"])
        }
    }

    @Test func limitsOfEveryKindAreNotAmbiguous() {
        withLoop { loop in
            loop.run(until: nil)
            loop.run(until: .now)
            loop.run(until: Date())
            loop.run(until: .distantFuture)
            loop.run(until: loop.now.advanced(by: .seconds(1)))
            loop.run(mode: .default, until: loop.now + .seconds(1))
            loop.run(mode: .default, before: .distantFuture)
            #expect(loop.currentMode == nil)
        }
    }
}

private final class Worker {
    var timer: Timer?
    var isDone: Bool { count.entries.count == 3 }
    private let count = EventLog()

    func start() {
        let count = count
        let timer = Timer(timeInterval: 0.001, repeats: true) { timer in
            count.note("tick")
            if count.entries.count == 3 { timer.invalidate() }
        }
        timer.tolerance = timer.timeInterval * 0.1
        RunLoop.current.add(timer, forMode: .common)
        self.timer = timer
    }
}
