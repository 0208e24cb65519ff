import Synchronization
import UVRunLoop

/// Tells one loop of the replies that come over a connection.
///
/// It is a port-based source of that loop, in a mode while somebody waits there. In between it
/// stays in a mode that nobody runs, so that the kernel goes on watching the socket and a request
/// takes no call to begin or to end the watch.
///
/// It also lingers in the mode of the latest wait: as a rule the next wait is in the same. Once it
/// is served there for nobody it leaves. It never keeps a mode from being empty; the run of a wait
/// goes on in an empty one.
final class ReplySource: UVRunLoop.PortSource {
    let link: UVRunLoop.PortLink
    private let receiver: Receiver
    private let waits = Guarded(Waits())

    private struct Waits {
        /// The modes of those who wait, innermost last: the waits of one loop are nested.
        var modes: [UVRunLoop.Mode] = []
        /// The mode it is in although nobody waits.
        var lingering: UVRunLoop.Mode?
    }

    private static let parkingMode = UVRunLoop.Mode("UVRunLoop.MessagePort.parked")

    init(_ connection: RemoteConnection, _ loop: UVRunLoop) {
        receiver = Receiver(connection, loop)
        link = UVRunLoop.PortLink(
            descriptor: connection.socket.descriptor.number,
            events: .readable,
            order: 0,
            keepsModes: false,
            receiver: receiver
        )
    }

    var loop: UVRunLoop { receiver.loop }

    /// Leaves it with its loop, in no mode that is run.
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
        // A reply to a wait further out may have come during this one.
        if receiver.connection.hasOutcome(for: self) { announce() }
    }

    /// Leaves the mode in which nobody waits any more.
    private func stopLingering() {
        let lingering = waits.withLock { exchange(&$0.lingering, with: nil) }
        if let lingering { loop.remove(self, forMode: lingering) }
    }

    /// Has the loop look for outcomes.
    func announce() { link.announce() }

    func connectionDidEnd() {
        let isIdle = waits.withLock { $0.modes.isEmpty }
        if isIdle { UVRunLoop.invalidate(self) } else { announce() }
    }
}

extension ReplySource {
    private final class Receiver: TypedPortReceiver {
        let connection: RemoteConnection
        let loop: UVRunLoop

        init(_ connection: RemoteConnection, _ loop: UVRunLoop) {
            self.connection = connection
            self.loop = loop
        }

        func checkHome(is thread: ThreadIdentity) {}

        func receive(
            port source: ReplySource,
            _ events: UVRunLoop.DescriptorSource.Events
        ) -> ServeResult {
            let isForSomebody = connection.receive(for: source)
            if !isForSomebody { source.stopLingering() }
            return ServeResult(wasHandled: isForSomebody)
        }

        func releaseHandler(in loop: UVRunLoop?) {}

        func loopDidEnd(port source: ReplySource) { connection.remove(source) }
    }
}
