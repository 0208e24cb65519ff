// Listing 3-3: an object that wraps a custom input source and its command buffer, and the context
// that other threads reach it by. `UVRunLoop.Source` stands for `CFRunLoopSourceRef`; listings 3-4
// to 3-9 add the methods.

import Synchronization
import UVRunLoop

/// A custom input source and its pending commands.
///
/// Other threads add commands and the thread of the source's loop executes them, so the buffer has
/// a lock.
final class RunLoopSource: Sendable {
    /// A command; Apple's listing has a number and an object.
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

    /// Adds a command to the buffer; it runs once the source fires.
    func addCommand(_ command: Command) { commands.withLock { $0.append(command) } }
}

/// A reference to a source, which its client gets when it joins a loop.
struct RunLoopContext: Sendable {
    let runLoop: UVRunLoop
    let source: RunLoopSource
}

/// Two threads add commands to a source that is in no loop yet.
func defineASource(_ log: Log) throws {
    let source = RunLoopSource(delegate: AppDelegate(log: log), log: log)
    source.addCommand(.say("hello"))
    let other = try startThread("client") { source.addCommand(.say("hello from another thread")) }
    other.join()
    log.note("\(source.commands.withLock { $0.count }) commands wait")
}
