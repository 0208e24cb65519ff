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

    /// A request of a thread that has not got the outcome.
    struct PendingRequest: Sendable {
        let number: UInt64
        let source: ReplySource
        var outcome = Outcome.open

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
        let requestSources: [RequestSource]
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
        /// Those of threads, sorted by number.
        ///
        /// There are as many as senders that wait at the same time.
        var requests: [PendingRequest] = []
        /// The tasks that wait for replies, by the numbers of their requests.
        var tasks: [UInt64: TaskWait<[UInt8]?>] = [:]
        var lastNumber: UInt64 = 0
        /// One for each loop that has waited for a reply.
        var replySources: [ReplySource] = []
        /// One for each loop that has waited for requests of tasks.
        private(set) var requestSources: [ObjectIdentifier: RequestSource] = [:]
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
            requests.contains { $0.source === source && !$0.isOpen }
        }

        mutating func insert(_ number: UInt64, from sender: Sender) {
            switch sender {
            case .thread(let source):
                requests.append(PendingRequest(number: number, source: source))
            case .task(let task): tasks[number] = task
            }
        }

        /// Removes a request; returns whether it had no outcome.
        mutating func remove(_ number: UInt64) -> Bool {
            if tasks.removeValue(forKey: number) != nil { return true }
            return index(of: number).map { requests.remove(at: $0).isOpen } ?? false
        }

        /// The source for the requests of tasks in a loop, and whether it was made for that.
        mutating func requestSource(
            for loop: UVRunLoop,
            of connection: RemoteConnection
        ) -> (source: RequestSource, isNew: Bool) {
            let key = ObjectIdentifier(loop)
            if let source = requestSources[key] { return (source, false) }
            let source = RequestSource(connection, socket, loop)
            if end == nil { requestSources[key] = source }
            return (source, true)
        }

        mutating func remove(_ source: RequestSource) {
            let key = ObjectIdentifier(source.loop)
            if requestSources[key] === source { requestSources[key] = nil }
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
        func isDone(_ id: FrameQueue.ID) -> Bool { !sendQueue.contains(id) && !wasLost(id) }

        private func wasLost(_ id: FrameQueue.ID) -> Bool {
            let index = lostFrames.indices.lowestIndex { lostFrames[$0] >= id }
            return index < lostFrames.count && lostFrames[index] == id
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
            let tasks = exchange(&tasks, with: [:]).sorted { $0.key < $1.key }.map(\.value)
            for index in requests.indices { requests[index].fail(reason) }
            lostFrames = sendQueue.removeAll()
            sendSources = [:]
            lateReplies = 0
            return Remains(
                socket: socket,
                sources: exchange(&replySources, with: []),
                tasks: tasks,
                requestSources: Array(exchange(&requestSources, with: [:]).values)
            )
        }
    }
}
