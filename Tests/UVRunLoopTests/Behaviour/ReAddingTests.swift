import Testing
import UVRunLoop

/// Items that are taken out and put in again by their own handlers, and what happens to handlers
/// that are done.
@Suite(.timeLimit(.minutes(15))) struct ReAddingTests {
    @Test(arguments: DriverKind.allCases)
    func whatIsAddedTwiceIsInTheModeOnce(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in log.note("source") }
            let timer = UVRunLoop.Timer(after: .zero, interval: .seconds(60)) { _ in
                log.note("timer")
            }
            let observer = UVRunLoop.Observer(activities: .entry) { _, _ in log.note("observer") }
            let port = UVRunLoop.Port { _, _ in log.note("port") }
            for _ in 0..<2 {
                loop.add(source)
                loop.add(timer)
                loop.add(observer)
                loop.add(port)
            }
            source.signal()
            _ = port.send(UVRunLoop.PortMessage())
            letTimePass(.milliseconds(1), loop)
            loop.run(mode: .default, for: .zero)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries.sorted() == ["observer", "observer", "port", "source", "timer"])
            loop.remove(source, forMode: .default)
            loop.remove(timer, forMode: .default)
            loop.remove(observer, forMode: .default)
            loop.remove(port, forMode: .default)
            #expect(!loop.contains(source, forMode: .default))
            #expect(!loop.contains(timer, forMode: .default))
            #expect(!loop.contains(observer, forMode: .default))
            #expect(!loop.contains(port, forMode: .default))
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aOneShotTimerThatItsHandlerTakesOutAndPutsInAgainIsDone(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .zero) { timer in
                log.note("timer")
                loop.remove(timer, forMode: .default)
                loop.add(timer, forMode: .default)
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["timer"])
            #expect(!timer.isValid)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aOneShotTimerThatItsHandlerTakesOutIsDone(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .zero) { timer in
                log.note("timer")
                loop.remove(timer, forMode: .default)
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(!timer.isValid)
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRepeatingTimerThatItsHandlerPutsInAgainGoesOnWithItsNextDate(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let start = loop.now
            let timer = UVRunLoop.Timer(
                at: start + .milliseconds(2),
                interval: .milliseconds(20)
            ) { timer in
                log.note("timer")
                loop.remove(timer, forMode: .default)
                loop.add(timer, forMode: .default)
                if log.entries.count == 3 { timer.invalidate() }
            }
            loop.add(timer, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["timer", "timer", "timer"])
            #expect(loop.now - start >= .milliseconds(42))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerPutInAgainByItsHandlerIsNotFiredByARunNestedInIt(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { timer in
                log.note("begin")
                loop.remove(timer, forMode: .default)
                loop.add(timer, forMode: .default)
                if log.entries.count == 1 {
                    letTimePass(.milliseconds(3), loop)
                    loop.run(mode: .default, for: .milliseconds(5))
                } else {
                    timer.invalidate()
                }
                log.note("end")
            }
            loop.add(timer, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["begin", "end", "begin", "end"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDescriptorSourcePutInAgainByItsHandlerIsNotServedByARunNestedInIt(
        kind: DriverKind
    ) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            pipe.write("a")
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                source,
                _ in
                log.note("begin")
                loop.remove(source, forMode: .default)
                loop.add(source, forMode: .default)
                if log.entries.count == 1 {
                    loop.run(mode: .default, for: .milliseconds(5))
                } else {
                    source.invalidate()
                }
                log.note("end")
            }
            loop.add(source, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["begin", "end", "begin", "end"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDateThatAHandlerSetBeforeItPutItsTimerInAgainIsKept(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .zero, interval: .seconds(100)) { timer in
                log.note("timer")
                if log.entries.count == 2 { return timer.invalidate() }
                timer.nextFireDate = loop.now
                loop.remove(timer, forMode: .default)
                loop.add(timer, forMode: .default)
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["timer", "timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDueDateOutlivesACallByHandWhoseHandlerPutsTheTimerInAgain(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(
                at: loop.now + .milliseconds(1),
                interval: .seconds(100)
            ) { timer in
                log.note("timer")
                loop.remove(timer, forMode: .default)
                loop.add(timer, forMode: .default)
                if log.entries.count == 2 { timer.invalidate() }
            }
            loop.add(timer, forMode: .default)
            letTimePass(.milliseconds(2), loop)
            timer.fire()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["timer", "timer"])
        }
    }

    // MARK: Handlers that are done

    @Test(arguments: DriverKind.allCases)
    func aTimersHandlerGoesWithItsLastFireThoughTheTimerIsKept(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            var captured: Box<Int>? = Box(0)
            weak let seen = captured
            let timer = UVRunLoop.Timer(after: .zero) { [captured] _ in captured?.value += 1 }
            captured = nil
            loop.add(timer, forMode: .default)
            #expect(seen != nil)
            loop.run(mode: .default, for: .seconds(60))
            #expect(seen == nil)
            #expect(!timer.isValid)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func whatAnInvalidItemCapturedIsFreeThoughTheItemIsKept(kind: DriverKind) throws {
        try withLoop(kind) { loop, _ in
            let pipe = Pipe()
            var captured: Box<Int>? = Box(0)
            weak let seen = captured
            let timer = UVRunLoop.Timer(after: .seconds(5)) { [captured] _ in captured?.value += 1 }
            let source = UVRunLoop.Source { [captured] _ in captured?.value += 1 }
            let observer = UVRunLoop.Observer(activities: .all) { [captured] _, _ in
                captured?.value += 1
            }
            let descriptor = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                [captured] _, _ in captured?.value += 1
            }
            captured = nil
            loop.add(timer, forMode: .default)
            loop.add(source, forMode: .default)
            loop.add(observer, forMode: .default)
            loop.add(descriptor, forMode: .default)
            timer.invalidate()
            source.invalidate()
            observer.invalidate()
            #expect(seen != nil)
            descriptor.invalidate()
            #expect(seen == nil)
            withExtendedLifetime((timer, source, observer, descriptor)) {}
        }
    }
}
