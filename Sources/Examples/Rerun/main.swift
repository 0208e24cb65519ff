// Runs a command, and runs it again whenever files of a folder have changed.
//
// Shows a file watch, a child process, a timer that waits until it is quiet, and the end on SIGTERM.

import Glibc
import UVRunLoop
import UVRunLoopSystem

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 2, let folder = arguments.first, !folder.hasPrefix("-") else {
    say("Usage: Rerun FOLDER COMMAND [ARGUMENT …]", to: STDERR_FILENO)
    exit(2)
}
do {
    let rerun = Rerun(Array(arguments.dropFirst()), on: .current)
    try rerun.watch(folder)
    try UVRunLoop.current.onTermination { rerun.end() }
    rerun.start()
    UVRunLoop.current.run()  // Returns when the watch and the command have ended.
    exit(rerun.exitStatus)
} catch {
    say("Rerun: \(folder): \(error)", to: STDERR_FILENO)
    exit(1)
}
