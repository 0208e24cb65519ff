// Listing 3-7: making the source with its three handlers, and installing it on the loop of a
// worker. `UVRunLoop.Source.init` stands for `CFRunLoopSourceCreate`, `UVRunLoop.current` for
// `CFRunLoopGetCurrent`, and `add(_:forMode:)` for `CFRunLoopAddSource`.

import UVRunLoop

extension RunLoopSource {
    /// Makes the source for this object.
    ///
    /// It may be made on one thread and added on another, hence a `sendablePerform`. As in Apple's
    /// listing, the source does not keep this object.
    func makeSource() -> UVRunLoop.Source {
        UVRunLoop.Source(
            schedule: { [weak self] loop, mode in self?.didJoin(loop, mode) },
            cancel: { [weak self] loop, mode in self?.didLeave(loop, mode) },
            sendablePerform: { [weak self] _ in self?.sourceFired() }
        )
    }

    /// Installs the source on the calling thread's loop.
    func addToCurrentRunLoop() {
        guard let source = runLoopSource.withLock({ $0 }) else { return }
        UVRunLoop.current.add(source, forMode: .default)
    }
}

/// A worker tries to run its loop without the source, and then with it.
func installASource(_ log: Log) throws {
    let delegate = AppDelegate(log: log)
    let source = RunLoopSource(delegate: delegate, log: log)

    let worker = try startThread("worker") {
        let loop = UVRunLoop.current
        log.note("without a source: \(loop.run(mode: .default, for: .milliseconds(20)))")
        source.addToCurrentRunLoop()
        log.note("with a source: \(loop.run(mode: .default, for: .milliseconds(20)))")
        source.invalidate()
    }
    delegate.run()
    worker.join()
}
