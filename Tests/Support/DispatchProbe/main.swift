// A program that has Dispatch's Swift module, for the tests of the main queue: each of its stories
// is told by a process of its own, because tests do not run on the main thread.
import Dispatch
import Glibc
import TestSupport
import UVRunLoop

let loop = UVRunLoop.main
let aside = UVRunLoop.Mode("aside")
endProcess(after: 60)

func onMain(_ line: String, _ body: @escaping @MainActor () -> Void = {}) {
    DispatchQueue.main.async {
        MainActor.assumeIsolated {
            tell(line)
            body()
        }
    }
}

func runOnce(_ mode: UVRunLoop.Mode = .default, for limit: Duration? = .zero) {
    tell("\(loop.run(mode: mode, for: limit))")
}

func keepAlive(_ mode: UVRunLoop.Mode) {
    loop.add(UVRunLoop.Timer(after: .seconds(1_000)) { _ in }, forMode: mode)
}

/// Goes through the main queue and the loop's blocks in turn.
@MainActor func hop(_ number: Int) {
    tell("\(number)")
    if number == 10 { return loop.stop() }
    if number.isMultiple(of: 2) {
        DispatchQueue.main.async { MainActor.assumeIsolated { hop(number + 1) } }
    } else {
        loop.perform { MainActor.assumeIsolated { hop(number + 1) } }
    }
}

let blocksPerThread = 5_000
var counts = Array(repeating: 0, count: 4)

/// Counts a block of one of the threads, whose blocks come in order.
@MainActor func take(_ number: Int, of thread: Int) {
    if counts[thread] != number { tell("out of order") }
    counts[thread] += 1
    if counts.reduce(0, +) == counts.count * blocksPerThread { loop.stop() }
}

switch CommandLine.arguments.dropFirst().first ?? "" {
case "empty":
    runOnce(for: .milliseconds(5))
    runOnce()
    runOnce(aside, for: .milliseconds(5))
    loop.addCommonMode(aside)
    runOnce(aside, for: .milliseconds(5))

case "full":
    let table = FullTable()
    runOnce(for: .milliseconds(5))
    let thread = startThread {
        table.clear()
        // The loop sleeps, and does not watch the queue yet.
        onMain("block") { loop.stop() }
    }
    runOnce(for: .seconds(60))
    thread.join()

case "refused":
    refuseWatching()
    onMain("first") { runOnce(for: .seconds(60)) }
    runOnce(for: .milliseconds(5))
    let thread = startThread {
        onMain("second") {
            startThread { onMain("third") { loop.stop() } }.join()
        }
    }
    runOnce(for: .seconds(60))
    thread.join()

case "batch":
    let observer = UVRunLoop.Observer(activities: .beforeTimers) { _, _ in tell("pass") }
    loop.add(observer, forMode: .default)
    onMain("first") { onMain("third") { loop.stop() } }
    onMain("second")
    loop.run()

case "modes":
    onMain("block")
    keepAlive(aside)
    runOnce(aside, for: .milliseconds(5))
    runOnce()

case "nested":
    onMain("outer") {
        onMain("inner") { loop.stop() }
        runOnce()
        runOnce(for: .seconds(50))
        loop.add(UVRunLoop.Timer(after: .zero) { _ in tell("timer") }, forMode: .default)
        runOnce(for: .seconds(50))
        tell("outer ends")
    }
    loop.run()

case "wake":
    let thread = startThread {
        // Only a loop that sleeps has to be woken.
        awaitSleep(of: loop)
        onMain("woken") { loop.stop() }
    }
    loop.run()
    thread.join()

case "results":
    onMain("block")
    tell("\(loop.run(for: .seconds(50), returnAfterSourceHandled: true))")
    onMain("stop") { loop.stop() }
    runOnce(for: .seconds(50))

case "chain":
    DispatchQueue.main.async { MainActor.assumeIsolated { hop(1) } }
    loop.run()

case "stale":
    for _ in 0..<2 {
        onMain("block")
        tell("\(loop.run(for: .seconds(50), returnAfterSourceHandled: true))")
    }
    tell("\(loop.run(for: .milliseconds(20), returnAfterSourceHandled: true))")

case "many":
    let threads = counts.indices.map { thread in
        startThread {
            for number in 0..<blocksPerThread {
                DispatchQueue.main.async { MainActor.assumeIsolated { take(number, of: thread) } }
            }
        }
    }
    loop.run()
    for thread in threads { thread.join() }
    tell("\(counts)")

case "fork":
    onMain("parent") { loop.stop() }
    loop.run()
    let status = inChild {
        let own = UVRunLoop.main
        own.add(UVRunLoop.Timer(after: .milliseconds(1)) { _ in tell("child") }, forMode: .default)
        tell("\(own.run(for: nil as Duration?))")
        return 0
    }
    tell("child ended with \(status)")
    onMain("parent again") { loop.stop() }
    loop.run()

case "daemon":
    // As a daemon does: the child of a parent that has used nothing goes on as the program.
    let status = inChild {
        DispatchQueue.global().async { DispatchQueue.main.async { exit(7) } }
        UVRunLoop.main.run()
        return 1
    }
    tell("child ended with \(status)")

default:
    tell("No such story.")
    exit(2)
}
