// A program that does not import Dispatch, for the tests of the main queue.
import Glibc
import TestSupport
import UVRunLoop

@main
struct TaskProbe {
    @MainActor static var count = 0

    static func main() {
        endProcess(after: 60)
        switch CommandLine.arguments.dropFirst().first ?? "" {
        case "unused": finishWithoutDispatch()
        case "tasks": serveTasks()
        case "started": waitForATask()
        case "worker": wakeForAWorkersTask()
        case "thread": wakeForAThreadsTask()
        case "waiter": serveAHandlerThatWaits()
        case "requests": serveRequests()
        case "own": serveOwnRequests()
        case "cancelled": cancelRequests()
        case "function": try? runFunction()
        case "throwing": runThrowingFunction()
        case "functions": try? runFunctions()
        case "job": try? runFunctionInAJob()
        default: exit(2)
        }
    }

    /// Threads with loops of their own, but nothing of Dispatch.
    static func finishWithoutDispatch() {
        let loop = UVRunLoop.main
        let timer = keepAlive()
        let thread = startThread {
            let worker = UVRunLoop.current
            worker.add(
                UVRunLoop.Timer(after: .milliseconds(5)) { _ in
                    loop.perform {
                        tell("block")
                        timer.invalidate()
                    }
                },
                forMode: .default
            )
            worker.run()
        }
        tell("\(loop.run(for: nil as Duration?))")
        thread.join()
        // That of the loop; the main queue would have one more.
        tell("eventfds: \(eventDescriptors())")
    }

    /// A task of the main actor goes on on the main thread after each wait.
    static func serveTasks() {
        let thread = pthread_self()
        Task { @MainActor in
            tell("begins")
            for _ in 0..<3 {
                try? await Task.sleep(for: .milliseconds(1))
                count += await Task.detached { 1 }.value
                tellCount(isOnMainThread: pthread_equal(thread, pthread_self()) != 0)
            }
            UVRunLoop.main.stop()
        }
        UVRunLoop.main.run()
        tell("stopped")
    }

    /// Traps when it is called elsewhere, because it is not a task.
    @MainActor static func tellCount(isOnMainThread: Bool) {
        MainActor.preconditionIsolated()
        tell("\(count) \(isOnMainThread)")
    }

    /// Nothing of the main actor's is there yet when the run begins.
    static func waitForATask() {
        Task.detached {
            try? await Task.sleep(for: .milliseconds(5))
            await MainActor.run { tell("main actor") }
            UVRunLoop.main.stop()
        }
        UVRunLoop.main.run()
        tell("stopped")
    }

    /// The first use of Dispatch is made by another thread's handler while the main loop sleeps.
    static func wakeForAWorkersTask() {
        keepAlive()
        let thread = startThread {
            awaitSleep(of: .main)
            let worker = UVRunLoop.current
            worker.add(
                UVRunLoop.Timer(after: .milliseconds(5)) { _ in
                    Task { @MainActor in
                        tell("main actor")
                        UVRunLoop.main.stop()
                    }
                },
                forMode: .default
            )
            worker.run()
        }
        UVRunLoop.main.run()
        thread.join()
        tell("stopped")
    }

    /// The first use of Dispatch is made by a thread that has no loop.
    static func wakeForAThreadsTask() {
        keepAlive()
        let thread = startThread {
            awaitSleep(of: .main)
            Task { @MainActor in
                tell("main actor")
                UVRunLoop.main.stop()
            }
        }
        tell("\(UVRunLoop.main.run(for: .seconds(20)))")
        thread.join()
    }

    /// The first use of Dispatch is made in a handler, which waits for what comes of it.
    static func serveAHandlerThatWaits() {
        keepAlive()
        let isDone = Signal()
        let end = SuspendingClock().now + .seconds(20)
        let thread = startThread {
            awaitSleep(of: .main)
            UVRunLoop.current.perform {
                Task { @MainActor in isDone.send() }
                while !isDone.hasCome, SuspendingClock().now < end {
                    usleep(1_000)
                }
                tell("done: \(isDone.hasCome)")
                UVRunLoop.main.stop()
            }
            UVRunLoop.current.run()
        }
        UVRunLoop.main.run()
        thread.join()
    }

    @discardableResult
    static func keepAlive() -> UVRunLoop.Timer {
        let timer = UVRunLoop.Timer(after: .seconds(1_000)) { _ in }
        UVRunLoop.main.add(timer, forMode: .default)
        return timer
    }

    /// How many eventfds the process has open.
    static func eventDescriptors() -> Int {
        (0..<100).count { number in
            var name = [CChar](repeating: 0, count: 64)
            let length = readlink("/proc/self/fd/\(number)", &name, name.count)
            let text = String(decoding: name.prefix(max(length, 0)).map(UInt8.init), as: UTF8.self)
            return text.contains("eventfd")
        }
    }
}
