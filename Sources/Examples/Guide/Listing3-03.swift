// Listing 3-3: an object around a custom input source, with a buffer of commands for it, and the
// context that tells other threads how to reach it. `UVRunLoop.Source` stands for
// `CFRunLoopSourceRef`; listings 3-4 to 3-9 fill in the methods.

import Synchronization
import UVRunLoop

/// A custom input source and the commands that wait for it.
///
/// Other threads leave commands and the thread of the source's loop carries them out, so the buffer
/// has a lock.
final class RunLoopSource: Sendable {
    /// What the source may be told; Apple's listing has a number and an object.
    enum Command: Sendable {
        case say(String)
        case finish
    }

    let commands = Mutex<[Command]>([])
    let runLoopSource = Mutex<UVRunLoop.Source?>(nil)
    /// The one client of this source.
    let delegate: AppDelegate
    let log: Log

    init(delegate: AppDelegate, log: Log) {
        self.delegate = delegate
        self.log = log
        runLoopSource.withLock { $0 = makeSource() }
    }

    /// Leaves a command in the buffer; nothing happens until the source is fired.
    func addCommand(_ command: Command) { commands.withLock { $0.append(command) } }
}

/// How to reach a source: what it tells its client when it joins a loop.
struct RunLoopContext: Sendable {
    let runLoop: UVRunLoop
    let source: RunLoopSource
}

/// Two threads leave commands with a source that is in no loop yet.
func defineASource(_ log: Log) throws {
    let source = RunLoopSource(delegate: AppDelegate(log: log), log: log)
    source.addCommand(.say("hello"))
    let other = try startThread("client") { source.addCommand(.say("hello from another thread")) }
    other.join()
    log.note("\(source.commands.withLock { $0.count }) commands wait")
}
