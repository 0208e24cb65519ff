import Glibc
import TestSupport
import UVRunLoop

/// Requests that are made of the main thread.
extension TaskProbe {
    private struct Failure: Error {}

    private final class Target: Sendable {}

    /// Another thread's: in order, on the main thread, and waited for.
    static func serveRequests() {
        keepAlive()
        let mainThread = pthread_self()
        let aside = UVRunLoop.Mode("aside")
        let thread = startThread {
            awaitSleep(of: .main)
            for _ in 0..<3 {
                UVRunLoop.requestPerformOnMain {
                    count += 1
                    tellCount(isOnMainThread: pthread_equal(mainThread, pthread_self()) != 0)
                }
            }
            let never = UVRunLoop.requestPerformOnMain(inModes: [aside]) { tell("never") }
            let value = try? UVRunLoop.performOnMainAndWait {
                count += 1
                return count
            }
            tell("waited for \(value ?? 0)")
            do {
                try UVRunLoop.performOnMainAndWait { throw Failure() }
            } catch {
                tell("threw \(error)")
            }
            tell("\(never.isPending) \(never.cancel()) \(never.isPending)")
            UVRunLoop.requestPerformOnMain { UVRunLoop.main.stop() }
        }
        UVRunLoop.main.run()
        thread.join()
        tell("stopped")
    }

    /// The main thread's own.
    static func serveOwnRequests() {
        UVRunLoop.requestPerformOnMain {
            count += 1
            tell("\(count)")
            UVRunLoop.main.stop()
        }
        let value = try? UVRunLoop.performOnMainAndWait {
            tell("at once")
            return count
        }
        tell("\(value ?? -1)")
        UVRunLoop.main.run()
        tell("stopped")
    }

    /// A wait for what the main thread cancels.
    static func cancelRequests() {
        let target = Target()
        let thread = startThread {
            do {
                let aside = UVRunLoop.Mode("aside")
                try UVRunLoop.performOnMainAndWait(inModes: [aside], target: target) {
                    tell("never")
                }
            } catch {
                tell("\(error)")
            }
            UVRunLoop.main.stop()
        }
        let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { timer in
            guard UVRunLoop.main.cancelPerformRequests(target: target) > 0 else { return }
            timer.invalidate()
            keepAlive()
        }
        UVRunLoop.main.add(timer, forMode: .default)
        UVRunLoop.main.run()
        thread.join()
    }
}
