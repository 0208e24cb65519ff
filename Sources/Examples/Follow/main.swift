// Prints the lines that other programs append to a file, also when the file is replaced.
//
// Shows a file watch, a timer beside it for file systems that report no changes, and a class that
// knows only its loop, so that its tests run it on virtual time.

import Glibc
import UVRunLoop
import UVRunLoopSystem

guard CommandLine.arguments.count == 2, let first = CommandLine.arguments[1].first, first != "-"
else {
    say("Usage: Follow FILE", to: STDERR_FILENO)
    exit(2)
}
let path = CommandLine.arguments[1]
if Follower.isFolder(path) {
    say("Follow: \(path): It is a folder, not a file.", to: STDERR_FILENO)
    exit(1)
}
let folder =
    path.contains("/") ? String(path[...(path.lastIndex(of: "/") ?? path.startIndex)]) : "."
let follower = Follower(path, on: .current, every: .seconds(1)) { say($0) }
do {
    // The folder, because a file that takes the place of another is not seen by a watch of the file.
    let watch = try UVRunLoop.FileWatch(folder) { _, _ in follower.readOn() }
    UVRunLoop.current.add(watch, forMode: .default)
    follower.start()
    try UVRunLoop.current.onTermination {
        watch.invalidate()
        follower.end()
    }
    UVRunLoop.current.run()
} catch {
    say("Follow: \(folder): \(error)", to: STDERR_FILENO)
    exit(1)
}
