// Listing 3-9: a client signals the source and wakes its loop, which may be asleep.
// `Source.signal()` stands for `CFRunLoopSourceSignal`, `wakeUp()` for `CFRunLoopWakeUp`.

import UVRunLoop

extension RunLoopSource {
    /// Has the pending commands executed; any thread may call this.
    ///
    /// The signal alone does not end the sleep: it would be seen when the loop wakes for another
    /// reason.
    func fireCommands(on loop: UVRunLoop) {
        let source = runLoopSource.withLock { $0 }
        source?.signal()
        loop.wakeUp()
    }
}

/// A worker sleeps until a client on this thread sends it commands.
func wakeTheLoop(_ log: Log) throws {
    let delegate = AppDelegate(log: log)
    let source = RunLoopSource(delegate: delegate, log: log)
    let worker = try UVRunLoop.Thread(name: "worker") { source.addToCurrentRunLoop() }

    let timer = UVRunLoop.Timer(after: .milliseconds(1), interval: .milliseconds(1)) { timer in
        // The client reaches the worker only through what its source registered.
        guard let context = delegate.sources.first, context.runLoop.isWaiting else { return }
        timer.invalidate()
        log.note("the worker sleeps")
        context.source.addCommand(.say("good morning"))
        context.source.addCommand(.finish)
        context.source.fireCommands(on: context.runLoop)
    }
    UVRunLoop.current.add(timer, forMode: .default)

    delegate.run()
    worker.stop()
    worker.join()
}
