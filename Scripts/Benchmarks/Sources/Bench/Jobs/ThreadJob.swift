import BenchSupport
import CFSupport
import CoreFoundation
import Foundation
import NIOCore
import NIOPosix
import RawUV
import UVRunLoop

extension Job {
    /// A thread starts, gets its loop, executes one thing in it, and ends.
    static func thread(_ effort: Effort) -> Job {
        let count = effort.choose(500, quick: 100)
        return Job(
            rows: [Row(name: "thread", title: "Start and end of a thread with a loop")],
            contenders: [
                Contender(.uvRunLoop) { _ in [threads(count, running: ourLoop)] },
                Contender(.libuv) { _ in [Double(raw_uv_threads(CInt(count))) / Double(count)] },
                Contender(.cfRunLoop) { _ in [threads(count, running: cfLoop)] },
                Contender(.nio) { _ in [time { for _ in 0..<count { nioThread() } } / Double(count)]
                },
            ]
        )
    }
}

private func threads(_ count: Int, running loop: @escaping @Sendable () -> Void) -> Double {
    time { for _ in 0..<count { PosixThread(loop).join() } } / Double(count)
}

@Sendable private func ourLoop() {
    let loop = UVRunLoop.current
    loop.perform { loop.stop() }
    loop.run()
}

@Sendable private func cfLoop() {
    CFRunLoopPerformBlock(CF.loop, CF.defaultMode) { CFRunLoopStop(CFRunLoopGetCurrent()) }
    CFRunLoopRunInMode(CF.defaultMode, 0, false)
}

private func nioThread() {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    NIO.wait(for: group.next().submit {})
    do { try group.syncShutdownGracefully() } catch { fail("SwiftNIO: \(error)") }
}
