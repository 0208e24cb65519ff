import Synchronization
import UVRunLoop

/// Notifies one loop of replies on a connection.
///
/// It is a port-based source of that loop, in a mode while a sender waits in it. Otherwise it is in
/// a mode that is never run: the kernel then keeps watching the socket, and a request needs no
/// system call to start or stop that.
///
/// After a wait it stays in that mode, because the next wait is usually in the same one; it leaves
/// when it is served there without a waiting sender. It does not keep a mode from being empty; a
/// wait goes on in an empty mode.
final class ReplySource: UVRunLoop.PortSource {
    let link: UVRunLoop.PortLink
    private let receiver: Receiver
    private let waits = Guarded(Waits())

    private struct Waits {
        /// The modes of the waiting senders, innermost last: the waits of one loop are nested.
        var modes: [UVRunLoop.Mode] = []
        /// A mode it is in without a waiting sender.
        var lingering: UVRunLoop.Mode?
    }

    private static let parkingMode = UVRunLoop.Mode("UVRunLoop.MessagePort.parked")

    init(_ connection: RemoteConnection, _ loop: UVRunLoop) {
        receiver = Receiver(connection, loop)
        link = UVRunLoop.PortLink(
            descriptor: receiver.socket?.descriptor.number,
            events: .readable,
            order: 0,
            keepsModes: false,
            receiver: receiver
        )
    }

    var loop: UVRunLoop { receiver.loop }

    /// Adds it to its loop, in a mode that is never run.
    func park() { loop.add(self, forMode: Self.parkingMode) }

    func beginWait(in mode: UVRunLoop.Mode) {
        let lingering = waits.withLock { waits in
            waits.modes.append(mode)
            return exchange(&waits.lingering, with: nil)
        }
        if lingering == mode { return }
        if let lingering { loop.remove(self, forMode: lingering) }
        loop.add(self, forMode: mode)
    }

    func endWait(in mode: UVRunLoop.Mode) {
        let (isLast, isIdle) = waits.withLock { waits in
            waits.modes.removeLast()
            if waits.modes.isEmpty { waits.lingering = mode }
            return (!waits.modes.contains(mode), waits.modes.isEmpty)
        }
        if isIdle {
            if !receiver.connection.isOpen { UVRunLoop.invalidate(self) }
            return
        }
        if isLast { loop.remove(self, forMode: mode) }
        // A reply to an outer wait may have arrived during this one.
        if receiver.connection.hasOutcome(for: self) { announce() }
    }

    /// Leaves the mode of the last wait.
    private func stopLingering() {
        let lingering = waits.withLock { exchange(&$0.lingering, with: nil) }
        if let lingering { loop.remove(self, forMode: lingering) }
    }

    /// Has the loop serve the source, to check for outcomes.
    func announce() { link.announce() }

    func connectionDidEnd() {
        if waits.withLock({ $0.modes.isEmpty }) { return UVRunLoop.invalidate(self) }
        // Nobody reads what is left, which would keep a nested run busy.
        link.setEvents { [] }
        announce()
    }
}

extension ReplySource {
    private final class Receiver: PortReceiver {
        let connection: RemoteConnection
        // Keeps the socket open while a loop watches it.
        let socket: SharedSocket?
        let loop: UVRunLoop

        init(_ connection: RemoteConnection, _ loop: UVRunLoop) {
            self.connection = connection
            socket = connection.socket
            self.loop = loop
        }

        func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {}

        func receive(
            port source: ReplySource,
            _ events: UVRunLoop.DescriptorEvents
        ) -> ServeResult {
            let isForSomebody = connection.receive(for: source)
            if !isForSomebody { source.stopLingering() }
            return ServeResult(wasHandled: isForSomebody)
        }

        /// The senders that wait check for outcomes themselves; the next one tries another source.
        func receive(port source: ReplySource, refusal: UVError) -> ServeResult {
            connection.remove(source)
            return ServeResult(wasHandled: true)
        }

        func releaseHandler() {}

        func loopDidEnd(port source: ReplySource) { connection.remove(source) }
    }
}
