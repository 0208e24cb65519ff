// Listing 3-6: what a custom source does when it leaves its loop: it asks its client to forget it,
// and waits until that is done. `performAndWait` stands for
// `performSelectorOnMainThread:withObject:waitUntilDone:YES`.

import UVRunLoop

extension RunLoopSource {
    /// Called on the thread that invalidates the source.
    func didLeave(_ loop: UVRunLoop, _ mode: UVRunLoop.Mode) {
        log.note("the source leaves its loop")
        let context = RunLoopContext(runLoop: loop, source: self)
        // An error says that the client's thread has ended: then nobody is left to tell.
        try? delegate.runLoop.performAndWait { [delegate] in delegate.removeSource(context) }
    }

    /// Takes the source out of its loop for good.
    func invalidate() {
        let source = runLoopSource.withLock { $0.take() }
        source?.invalidate()
    }
}

/// A worker invalidates its source, and goes on when the client on this thread has let it go.
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
