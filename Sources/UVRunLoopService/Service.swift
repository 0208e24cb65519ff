#if Service
import ServiceLifecycle
import Synchronization
import UVRunLoop

extension UVRunLoop {
    /// A thread with a loop, as a service of a service group.
    ///
    /// The service starts its thread when it is made, and ends it at the end of ``run()``. The
    /// services that use the loop can therefore be made before the group runs: pass them
    /// ``runLoop``, and put them behind this one in the group, which shuts down its services from
    /// the last to the first. A service that never runs ends its thread when it is released.
    ///
    /// > Threading: Any thread.
    public final class Service: ServiceLifecycle.Service {
        /// The work of a service.
        public typealias Body = @Sendable (UVRunLoop) async throws -> Void

        private let thread: Thread
        private let body: Body?
        private let hasRun = Atomic(false)

        /// Starts a thread for a service, and returns when it has its loop.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - name: A name for debuggers, which show its first 15 bytes.
        ///   - stackSize: The size of the stack in bytes; `nil` for the system's default.
        ///   - body: The service's work, which gets the loop; see ``run()``. `nil` if the service
        ///     only serves the loop to others.
        /// - Throws: ``RunLoopError`` if no thread could be started.
        public init(
            name: String? = nil,
            stackSize: Int? = nil,
            body: Body? = nil
        ) throws(RunLoopError) {
            thread = try Thread(name: name, stackSize: stackSize)
            self.body = body
        }

        deinit {
            // A forked child has a copy of this object, but not the thread.
            if !hasRun.load(ordering: .relaxed), thread.isOfThisProcess { thread.stop() }
        }

        /// The loop of the service's thread, which runs from the beginning.
        ///
        /// > Threading: Any thread.
        public var runLoop: UVRunLoop { thread.runLoop }

        /// Runs the service until its thread has ended; the service group calls it.
        ///
        /// With a body, the service lasts until the body returns or throws. The body runs in this
        /// task, not on the thread, and has to react to a graceful shutdown itself: the thread
        /// serves its loop until the body has ended. Without a body, the service lasts until a
        /// graceful shutdown, or until work on the thread calls `Thread.current?.stop()`.
        ///
        /// The thread then performs the work that is queued, as by
        /// ``Thread/stop(afterQueuedWork:)``, and this returns when it has ended. Waiting for that
        /// blocks no thread of the runtime.
        ///
        /// If the task is cancelled, the thread ends at once, without its queued work, whether or
        /// not the body has ended.
        ///
        /// > Threading: Any task. A service runs once; a second call traps.
        ///
        /// - Throws: The body's error, after the end of the thread; without a body,
        ///   `CancellationError` if the task is cancelled.
        public func run() async throws {
            require(
                !hasRun.exchange(true, ordering: .relaxed),
                "A service was run twice. Its thread has ended: make another service."
            )
            try await withTaskCancellationHandler {
                do {
                    if let body { try await body(runLoop) } else { await serve() }
                } catch {
                    await thread.end()
                    throw error
                }
                await thread.end()
                if body == nil { try Task.checkCancellation() }
            } onCancel: {
                thread.stop(afterQueuedWork: false)
            }
        }

        /// Waits until the loop has ended, which a graceful shutdown brings about, or the task is
        /// cancelled.
        private func serve() async {
            await withGracefulShutdownHandler {
                // Throws one error or the other; no date is later.
                try? await runLoop.sleep(for: .nanoseconds(Int64.max))
            } onGracefulShutdown: { [thread] in
                thread.stop()
            }
        }
    }
}
#endif
