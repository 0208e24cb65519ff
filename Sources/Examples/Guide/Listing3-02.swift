// Listing 3-2: the skeleton of a thread's main routine. It runs the loop again and again, each
// time until one source was handled, and looks at the result to learn whether to go on.
// `run(mode:for:returnAfterSourceHandled:)` stands for `CFRunLoopRunInMode`.

import UVRunLoop

/// A thread's main routine, which leaves it to the caller to give the loop sources and timers.
func skeletonThreadMain(_ log: Log, addSources: (UVRunLoop) -> Void) {
    let loop = UVRunLoop.current
    addSources(loop)

    var isDone = false
    repeat {
        let result = loop.run(mode: .default, for: .seconds(10), returnAfterSourceHandled: true)
        log.note("the run ended: \(result)")

        // Somebody stopped the loop, or it has nothing left to wait for.
        if result == .stopped || result == .finished { isDone = true }

        // Any other reason to end the thread would be looked for here.
    } while !isDone

    log.note("the thread cleans up")
}

/// Two threads run the skeleton: one until its source stops it, one that was given no source.
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

            // Takes the place of the other threads that would have jobs for this one. A timer is
            // no source: that it fires does not end a run.
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
