// Listing 3-5: what a custom source does when it was signalled: it executes the commands in its
// buffer. This is the `perform` handler of a `UVRunLoop.Source`.

import UVRunLoop

extension RunLoopSource {
    /// Called by a run of the loop, on the loop's thread.
    func sourceFired() {
        log.note("the source fires")
        // Taken under the lock and executed without it, because a command may take long.
        let commands = commands.withLock { commands in
            defer { commands = [] }
            return commands
        }
        for command in commands {
            switch command {
            case .say(let text): log.note("command: \(text)")
            case .finish: invalidate()
            }
        }
    }
}

/// Two commands and two signals from another thread: the source fires once, on the loop's thread,
/// and executes both.
func performWork(_ log: Log) throws {
    let source = RunLoopSource(delegate: AppDelegate(log: log), log: log)
    source.addToCurrentRunLoop()

    let loop = UVRunLoop.current
    let client = try startThread("client") {
        log.note("another thread leaves two commands")
        for text in ["one", "two"] {
            source.addCommand(.say(text))
            source.fireCommands(on: loop)
        }
    }
    client.join()

    // A limit that has passed makes one pass, in which every signalled source fires.
    loop.run(mode: .default, for: .zero)
    loop.run(mode: .default, for: .zero)
    source.invalidate()
}
