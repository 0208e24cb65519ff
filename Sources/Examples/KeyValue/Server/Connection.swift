import UVRunLoop
import UVRunLoopPorts

/// One client: its socket, its unparsed input and its unsent replies.
final class Connection {
    /// The state of the conversation.
    enum State {
        /// Commands are executed as they arrive.
        case open
        /// It waits for a snapshot and gets no further reply before that one.
        case awaitingSave
        /// Buffered replies are sent, then no more.
        case ending
    }

    /// Replies beyond this size are sent at once, not at the end of the pass.
    static let replySize = 64 << 10

    let port: UVRunLoop.SocketPort
    var parser = RequestParser()
    var client: Interpreter.Client
    var reply = Reply()
    var state = State.open
    /// Whether the server's list of clients with unsent replies has it.
    var isListed = false
    /// Whether its last command has been received.
    var hasEnded = false
    /// Whether it reads too slowly for more replies to be written.
    private(set) var isBackedUp = false

    init(_ port: UVRunLoop.SocketPort, number: Int, outputLimit: Int) {
        self.port = port
        client = Interpreter.Client(number: number)
        port.maximumQueuedBytes = outputLimit
        port.highMark = 1 << 20
        port.lowMark = 256 << 10
    }

    /// Whether its next command may be executed.
    var mayRun: Bool { state == .open && !isBackedUp }

    /// Sends buffered replies; input from a client that does not read them is paused.
    func send(_ reply: inout Reply) {
        guard !reply.bytes.isEmpty else { return }
        port.send(reply.bytes)
        reply.removeAll()
        guard !isBackedUp, port.isAboveHighMark else { return }
        isBackedUp = true
        port.pauseReading()
    }

    /// The send queue is short enough again.
    func didDrain() {
        isBackedUp = false
        resumeReading()
    }

    /// Holds back its commands until its snapshot is written.
    func awaitSave() {
        state = .awaitingSave
        port.pauseReading()
    }

    /// Its snapshot was written, or failed.
    func didSave() {
        guard state == .awaitingSave else { return }
        state = .open
        resumeReading()
    }

    /// Resumes reading, unless another condition still prevents it.
    func resumeReading() {
        if state != .awaitingSave, !isBackedUp { port.resumeReading() }
    }
}
