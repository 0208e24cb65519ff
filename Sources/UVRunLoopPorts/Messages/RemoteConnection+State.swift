import UVRunLoop

extension RemoteConnection {
    /// The result of a request.
    enum Outcome: Sendable {
        case open
        case reply([UInt8]?)
        case failed(MessagePortError)

        /// The outcome for a task; `nil` while there is none.
        var result: Result<[UInt8]?, any Error>? {
            switch self {
            case .open: nil
            case .reply(let data): .success(data)
            case .failed(let error): .failure(error)
            }
        }
    }

    /// Who waits for a reply.
    enum Sender: Sendable {
        /// A thread, whose loop is notified and which takes the outcome.
        case thread(ReplySource)
        /// A task, which gets the outcome.
        case task(TaskWait<[UInt8]?>)
    }

    /// A request whose sender has not got the outcome.
    struct PendingRequest: Sendable {
        let number: UInt64
        var outcome = Outcome.open
        let sender: Sender

        var task: TaskWait<[UInt8]?>? {
            if case .task(let wait) = sender { wait } else { nil }
        }

        var isOpen: Bool { if case .open = outcome { true } else { false } }

        /// Fails the request, unless its reply has arrived.
        mutating func fail(_ error: MessagePortError) {
            if isOpen { outcome = .failed(error) }
        }
    }

    /// What became of a frame that its sender has given up.
    enum Withdrawal: Sendable {
        case wasSent
        /// Nothing of it was sent, and it is no longer queued.
        case withdrawn
        /// The other side waits for the rest, and nothing else can be sent before.
        case wasPartlySent
        case connectionEnded(MessagePortError)
    }

    /// What a connection leaves at its end: its socket, and those who wait for replies.
    struct Remains: Sendable {
        let socket: SharedSocket
        let sources: [ReplySource]
        let tasks: [TaskWait<[UInt8]?>]
    }

    struct State: Sendable {
        private enum Phase: Sendable {
            case open(SharedSocket)
            case ended(MessagePortError)
        }

        private var phase: Phase
        var parser: FrameParser
        var sendQueue = FrameQueue()
        /// The frames that the end of the connection has kept from being sent.
        private var lostFrames: [FrameQueue.ID] = []
        /// Sorted by number.
        ///
        /// There are as many as senders that wait at the same time.
        var requests: [PendingRequest] = []
        var lastNumber: UInt64 = 0
        /// One for each loop that has waited for a reply.
        var replySources: [ReplySource] = []
        /// The sources of senders that wait until a frame is sent, which another sender may do.
        private var sendSources: [FrameQueue.ID: UVRunLoop.PortLink] = [:]
        /// The frames before this one have no such source any more.
        private var firstAwaited = FrameQueue().next
        /// The number of requests that were given up and may still be replied to.
        var lateReplies = 0
        /// Whether the thread for replies reads them.
        var isReadingLateReplies = false

        init(_ socket: SharedSocket, _ parser: FrameParser) {
            phase = .open(socket)
            self.parser = parser
        }

        /// `nil` once the connection has ended.
        var socket: SharedSocket? { if case .open(let socket) = phase { socket } else { nil } }

        /// The reason why the connection has ended; `nil` while it is open.
        var end: MessagePortError? { if case .ended(let reason) = phase { reason } else { nil } }

        func index(of number: UInt64) -> Int? {
            let index = requests.indices.lowestIndex { requests[$0].number >= number }
            return index < requests.count && requests[index].number == number ? index : nil
        }

        /// Whether there is an outcome that a sender in the source's loop has not taken.
        func hasOutcome(for source: ReplySource) -> Bool {
            requests.contains { request in
                guard case .thread(let other) = request.sender, other === source else {
                    return false
                }
                return !request.isOpen
            }
        }

        /// Stores a source until a frame is sent; returns `false` if the frame is not queued.
        mutating func insert(_ link: UVRunLoop.PortLink, until id: FrameQueue.ID) -> Bool {
            guard sendQueue.contains(id) else { return false }
            sendSources[id] = link
            return true
        }

        mutating func remove(_ link: UVRunLoop.PortLink, of id: FrameQueue.ID) {
            if sendSources[id] === link { sendSources[id] = nil }
        }

        /// Removes the sources of senders whose frames are sent.
        mutating func takeSourcesOfSent() -> [UVRunLoop.PortLink] {
            let end = sendQueue.next
            defer { firstAwaited = end }
            guard !sendSources.isEmpty else { return [] }
            return firstAwaited.upTo(end).compactMap { sendSources.removeValue(forKey: $0) }
        }

        /// Whether all of a frame was sent, or it was withdrawn.
        ///
        /// Another sender may have sent it before the connection ended.
        func isDone(_ id: FrameQueue.ID) -> Bool {
            !sendQueue.contains(id) && !lostFrames.contains(id)
        }

        /// Sends queued frames, as much as the socket accepts.
        ///
        /// - Returns: Whether the other side still receives.
        mutating func flush() -> Bool {
            do throws(UVError) {
                if let socket { _ = try sendQueue.flush(to: socket.descriptor) }
                return true
            } catch {
                return false
            }
        }

        /// Ends the connection.
        ///
        /// - Returns: What is left; `nil` if it had ended already.
        mutating func end(for reason: MessagePortError) -> Remains? {
            guard let socket else { return nil }
            phase = .ended(reason)
            let tasks = takeTasks()
            for index in requests.indices { requests[index].fail(reason) }
            lostFrames = sendQueue.removeAll()
            sendSources = [:]
            lateReplies = 0
            let sources = exchange(&replySources, with: [])
            return Remains(socket: socket, sources: sources, tasks: tasks)
        }

        /// Removes the requests of tasks.
        mutating func takeTasks() -> [TaskWait<[UInt8]?>] {
            let tasks = requests.compactMap { $0.task }
            if !tasks.isEmpty { requests.removeAll { $0.task != nil } }
            return tasks
        }
    }
}
