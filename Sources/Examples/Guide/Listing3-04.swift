// Listing 3-4: what a custom source does when it joins a loop: it registers with its client on the
// main thread, without waiting. `requestPerform` stands for
// `performSelectorOnMainThread:withObject:waitUntilDone:NO`.

import UVRunLoop

extension RunLoopSource {
    /// Called by `add(_:forMode:)`, on the thread that adds the source.
    func didJoin(_ loop: UVRunLoop, _ mode: UVRunLoop.Mode) {
        log.note("the source joins a loop")
        let context = RunLoopContext(runLoop: loop, source: self)
        delegate.runLoop.requestPerform { [delegate] in delegate.registerSource(context) }
    }
}

/// A worker installs its source while the main thread is busy, without being delayed.
func scheduleASource(_ log: Log) throws {
    let delegate = AppDelegate(log: log)
    let source = RunLoopSource(delegate: delegate, log: log)

    let worker = try UVRunLoop.Thread(name: "worker")
    try worker.runLoop.performAndWait { source.addToCurrentRunLoop() }
    log.note("the worker goes on")

    runCurrentLoop { !delegate.sources.isEmpty }

    worker.runLoop.requestPerform { source.invalidate() }
    delegate.run()
    worker.stop()
    worker.join()
}
