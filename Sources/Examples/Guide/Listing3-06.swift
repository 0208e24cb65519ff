// Listing 3-6: what a custom source does when it leaves its loop: it has its client remove it, and
// waits until that is done. `performAndWait` stands for
// `performSelectorOnMainThread:withObject:waitUntilDone:YES`.

import UVRunLoop

extension RunLoopSource {
    /// Called on the thread that invalidates the source.
    func didLeave(_ loop: UVRunLoop, _ mode: UVRunLoop.Mode) {
        log.note("the source leaves its loop")
        let context = RunLoopContext(runLoop: loop, source: self)
        // An error means that the client's thread has ended, so there is no list to be removed
        // from.
        try? delegate.runLoop.performAndWait { [delegate] in delegate.removeSource(context) }
    }

    /// Invalidates the source.
    func invalidate() {
        let source = runLoopSource.withLock { $0.take() }
        source?.invalidate()
    }
}

/// A worker invalidates its source, and goes on once the client on this thread has removed it.
func invalidateASource(_ log: Log) throws {
    let delegate = AppDelegate(log: log)
    let source = RunLoopSource(delegate: delegate, log: log)

    let worker = try UVRunLoop.Thread(name: "worker") { source.addToCurrentRunLoop() }
    runCurrentLoop { !delegate.sources.isEmpty }

    worker.runLoop.requestPerform {
        source.invalidate()
        log.note("the worker goes on")
    }
    delegate.run()
    worker.stop()
    worker.join()
}
