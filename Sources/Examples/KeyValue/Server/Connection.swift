import UVRunLoop
import UVRunLoopPorts

/// One client: its socket, what it has sent, and what it is to read.
final class Connection {
    /// How far the conversation has come.
    enum State {
        /// Commands are carried out as they come.
        case open
        /// It has asked for a snapshot and gets no further reply before that one.
        case awaitingSave
        /// It gets what is written so far, and then no more.
        case ending
    }

    /// Replies are sent on beyond this size, without waiting for the others.
    static let replySize = 64 << 10

    let port: UVRunLoop.SocketPort
    var parser = RequestParser()
    var client: Interpreter.Client
    var reply = Reply()
    var state = State.open
    /// Whether the server has it in its list of those with replies to send.
    var isListed = false
    /// Whether it has sent its last command.
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

    /// Whether its next command may be carried out.
    var mayRun: Bool { state == .open && !isBackedUp }

    /// Sends what is written; a client that does not keep up with reading is not read from.
    func send(_ reply: inout Reply) {
        guard !reply.bytes.isEmpty else { return }
        port.send(reply.bytes)
        reply.removeAll()
        guard !isBackedUp, port.isAboveHighMark else { return }
        isBackedUp = true
        port.pauseReading()
    }

    /// It has read enough of what was sent.
    func didDrain() {
        isBackedUp = false
        resumeReading()
    }

    /// Holds its commands back until its snapshot is written.
    func awaitSave() {
        state = .awaitingSave
        port.pauseReading()
    }

    /// Its snapshot is written, or is not going to be.
    func didSave() {
        guard state == .awaitingSave else { return }
        state = .open
        resumeReading()
    }

    /// Reads on, if nothing stands against it.
    func resumeReading() {
        if state != .awaitingSave, !isBackedUp { port.resumeReading() }
    }
}
