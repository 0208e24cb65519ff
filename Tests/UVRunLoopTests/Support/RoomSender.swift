import TestSupport
import UVRunLoop

/// Who waits for room in a port: a thread, which also checks for it from time to time, or a task,
/// which has to be resumed.
enum RoomSender: CaseIterable {
    case thread, task

    /// Sends messages.
    ///
    /// - Parameters:
    ///   - ids: The numbers of the messages.
    ///   - port: Where to.
    ///   - didSend: Called for each that was sent.
    /// - Returns: A function that waits until all were.
    /// - Throws: An error if no thread can be started.
    func send(
        _ ids: Range<Int32>,
        to port: UVRunLoop.Port,
        _ didSend: @escaping @Sendable () -> Void
    ) throws -> () -> Void {
        switch self {
        case .thread:
            let thread = startThread {
                for id in ids where port.send(UVRunLoop.PortMessage(id: id)) { didSend() }
            }
            return { thread.join() }
        case .task:
            // The threads of the runtime's pool may all be blocked by tests.
            let thread = try UVRunLoop.Thread(name: "sender")
            let end = Signal()
            Task(executorPreference: thread.runLoop.taskExecutor) {
                defer { end.send() }
                for id in ids {
                    let message = UVRunLoop.PortMessage(id: id)
                    if try await port.sendWhenThereIsRoom(message) { didSend() }
                }
            }
            return {
                end.wait()
                thread.stop()
                thread.join()
            }
        }
    }
}
