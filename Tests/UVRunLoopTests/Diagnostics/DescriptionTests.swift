import Testing
import UVRunLoop

@Suite(.timeLimit(.minutes(15))) struct DescriptionTests {
    @Test func errorsThatLibuvDoesNotKnowHaveNamesToo() {
        #expect("\(UVRunLoop.UVError.noChild)" == "ECHILD: no child processes")
        #expect("\(UVRunLoop.UVError(rawValue: -37))" == "error 37: No locks available")
    }

    @Test func activitiesPrintAsWords() {
        #expect("\(UVRunLoop.Activities.beforeWaiting)" == "beforeWaiting")
        #expect("\(UVRunLoop.Activities([.entry, .exit]))" == "[entry, exit]")
        #expect("\(UVRunLoop.Activities.all)" == "all")
        #expect("\(UVRunLoop.Activities([]))" == "[]")
        #expect("\(UVRunLoop.Activities(rawValue: 1 << 20 | 1))" == "[entry, 1048576]")
    }

    @Test func eventsPrintAsWords() {
        #expect("\(UVRunLoop.DescriptorEvents.readable)" == "readable")
        #expect("\(UVRunLoop.DescriptorEvents([.writable, .hangUp]))" == "[writable, hangUp]")
    }

    @Test func resultsPrintAsWords() {
        let words = UVRunLoop.RunResult.allCases.map { "\($0)" }
        #expect(words == ["finished", "stopped", "timedOut", "handledSource"])
    }

    @Test func modesPrintAsWordsInDebugDescriptions() {
        #expect(UVRunLoop.Mode.default.debugDescription == "default")
        #expect(UVRunLoop.Mode("downloads").debugDescription == "downloads")
        #expect("\(UVRunLoop.Mode.default)" == "kCFRunLoopDefaultMode")
    }

    @Test func aTimerPrintsItsLabelDateAndInterval() {
        let timer = UVRunLoop.Timer(
            after: .seconds(90),
            interval: .milliseconds(500),
            tolerance: .milliseconds(20)
        ) { _ in }
        timer.label = "poll"
        let line = "\(timer)"
        #expect(line.hasPrefix("Timer \"poll\": in "))
        #expect(line.hasSuffix(" s, every 500 ms, tolerance 20 ms"))
        timer.invalidate()
        #expect("\(timer)" == "Timer \"poll\": invalid")
    }

    @Test func aDueTimerPrintsHowLongAgoItsDateWas() {
        let timer = UVRunLoop.Timer(after: .zero) { _ in }
        letTimePass(.milliseconds(1))
        #expect("\(timer)".hasPrefix("Timer: due "))
        #expect("\(timer)".hasSuffix(" ago"))
    }

    @Test func sourcesAndObserversPrintWhatTheyWaitFor() {
        let source = UVRunLoop.Source(order: 2) { _ in }
        source.label = "work"
        source.signal()
        #expect("\(source)" == "Source \"work\": signalled, order 2")
        let observer = UVRunLoop.Observer(activities: [.entry, .exit], repeats: false) { _, _ in }
        #expect("\(observer)" == "Observer: [entry, exit], once")
        #expect(observer.debugDescription.hasPrefix("Observer 0x"))
    }

    @Test func aDescriptorSourcePrintsItsDescriptorAndEvents() throws {
        let pipe = Pipe()
        let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in }
        source.label = "input"
        #expect("\(source)" == "DescriptorSource \"input\": descriptor \(pipe.readEnd), readable")
        source.invalidate()
    }

    @Test func aPortPrintsItsQueue() {
        let port = UVRunLoop.Port(capacity: 4) { _, _ in }
        _ = port.send(UVRunLoop.PortMessage(components: [.value(1)]), limit: .zero)
        #expect("\(port)" == "Port: 1 of 4 messages")
    }

    @Test func aLoopPrintsItsModesAndTheirItems() {
        onAnotherThread {
            let loop = UVRunLoop.current
            loop.label = "planner"
            let timer = UVRunLoop.Timer(after: .seconds(60)) { _ in }
            timer.label = "poll"
            loop.add(timer, forMode: .default)
            let source = UVRunLoop.Source { _ in }
            source.label = "work"
            loop.add(source, forMode: UVRunLoop.Mode("modal"))
            let lines = loop.debugDescription.split(separator: "\n")
            #expect(lines.count == 5)
            #expect(lines[0].hasPrefix("UVRunLoop \"planner\" 0x"))
            #expect(lines[0].hasSuffix(": not running"))
            #expect(lines[1] == "  default (common)")
            #expect(lines[2].hasPrefix("    Timer \"poll\" 0x"))
            #expect(lines[3] == "  modal")
            #expect(lines[4].hasPrefix("    Source \"work\" 0x"))
        }
    }

    @Test func aLoopPrintsTheHandlerThatItIsIn() {
        onAnotherThread {
            let loop = UVRunLoop.current
            let words = Box("")
            let timer = UVRunLoop.Timer(after: .zero) { _ in words.value = "\(loop)" }
            timer.label = "poll"
            loop.add(timer, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            #expect(words.value.contains("in mode default, pass 1"))
            // While a test beside this one watches all loops, more follows.
            #expect(words.value.contains("in the handler of Timer \"poll\""))
        }
    }

    @Test func aSleepingLoopPrintsOnAnotherThreadThatItIsAsleep() throws {
        let thread = try UVRunLoop.Thread(name: "sleeper")
        awaitSleep(of: thread.runLoop)
        // While a test beside this one watches all loops, more follows.
        #expect("\(thread.runLoop)".hasPrefix("UVRunLoop \"sleeper\": asleep"))
        thread.stop()
        thread.join()
    }

    @Test func anEndedLoopPrints() throws {
        let thread = try UVRunLoop.Thread(name: "gone")
        let loop = thread.runLoop
        thread.stop()
        thread.join()
        #expect("\(loop)" == "UVRunLoop \"gone\": ended")
        #expect(loop.debugDescription.hasSuffix("default (common)\n    empty"))
    }

    @Test func aThreadPrintsItsLabel() throws {
        let thread = try UVRunLoop.Thread(name: "worker")
        #expect("\(thread)" == "Thread \"worker\"")
        thread.stop()
        thread.join()
    }
}
