// Listing 3-2: the skeleton of a thread's main routine. It runs the loop again and again, each time
// until one source was handled, and checks the result to decide whether to go on.
// `run(mode:for:returnAfterSourceHandled:)` stands for `CFRunLoopRunInMode`.

import UVRunLoop

/// A thread's main routine; the caller adds the loop's sources and timers.
func skeletonThreadMain(_ log: Log, addSources: (UVRunLoop) -> Void) {
    let loop = UVRunLoop.current
    addSources(loop)

    var isDone = false
    repeat {
        let result = loop.run(mode: .default, for: .seconds(10), returnAfterSourceHandled: true)
        log.note("the run ended: \(result)")

        // The loop was stopped, or its mode is empty.
        if result == .stopped || result == .finished { isDone = true }

        // Check for any other exit condition here.
    } while !isDone

    log.note("the thread cleans up")
}

/// Two threads run the skeleton: one until its source stops it, one without a source.
func runARunLoop(_ log: Log) throws {
    let stopped = try startThread("stopped") {
        skeletonThreadMain(log) { loop in
            var jobs = 3
            let source = UVRunLoop.Source { _ in
                jobs -= 1
                log.note("the source was handled, jobs left: \(jobs)")
                if jobs == 0 { loop.stop() }
            }
            loop.add(source, forMode: .default)

            // Stands for other threads that have jobs for this one. A timer is not a source: its
            // fire does not end a run.
            let timer = UVRunLoop.Timer(after: .milliseconds(10), interval: .milliseconds(10)) {
                _ in
                source.signal()
            }
            loop.add(timer, forMode: .default)
        }
    }
    stopped.join()

    let empty = try startThread("empty") { skeletonThreadMain(log) { _ in } }
    empty.join()
}
