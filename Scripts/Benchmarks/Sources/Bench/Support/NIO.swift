import BenchSupport
import NIOCore
import NIOPosix

/// One thread of SwiftNIO's, which all jobs share that need one loop.
enum NIO {
    static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    static var loop: any EventLoop { group.next() }

    /// Does something on the loop's thread, and waits for what it yields.
    static func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (any EventLoop) throws -> Value
    ) -> Value {
        let loop = self.loop
        return wait(for: loop.submit { try body(loop) })
    }

    static func wait<Value: Sendable>(for future: EventLoopFuture<Value>) -> Value {
        do { return try future.wait() } catch { fail("SwiftNIO: \(error)") }
    }
}
