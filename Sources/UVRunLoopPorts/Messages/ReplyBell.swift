import Synchronization
import UVRunLoop

/// Tells one loop of the replies that come over a connection.
///
/// It is a port-based source of that loop, in a mode while somebody waits there. In between it
/// stays in a mode that nobody runs, so that the kernel goes on watching the socket and a request
/// takes no call to begin or to end the watch.
final class ReplyBell: UVRunLoop.PortSource {
    let link: UVRunLoop.PortLink
    private let receiver: Receiver
    /// How many wait, by mode: the waits of one loop are nested in each other.
    private let waits = Locked<[UVRunLoop.Mode: Int]>([:])

    private static let parkingMode = UVRunLoop.Mode("UVRunLoop.MessagePort.parked")

    init(_ connection: RemoteConnection, _ loop: UVRunLoop) {
        receiver = Receiver(connection, loop)
        link = UVRunLoop.PortLink(
            descriptor: connection.socket.descriptor.number,
            events: .readable,
            order: 0,
            receiver: receiver
        )
    }

    var loop: UVRunLoop { receiver.loop }

    /// Leaves it with its loop, in no mode that is run.
    func park() { loop.add(self, forMode: Self.parkingMode) }

    func beginWait(in mode: UVRunLoop.Mode) {
        waits.withLock { $0[mode, default: 0] += 1 }
        loop.add(self, forMode: mode)
    }

    func endWait(in mode: UVRunLoop.Mode) {
        let (isLast, isIdle) = waits.withLock { waits in
            let left = (waits[mode] ?? 1) - 1
            waits[mode] = left > 0 ? left : nil
            return (left == 0, waits.isEmpty)
        }
        if isLast { loop.remove(self, forMode: mode) }
        if isIdle, !receiver.connection.isOpen { UVRunLoop.invalidate(self) }
        // A reply to a wait further out may have come during this one.
        if !isIdle, receiver.connection.hasOutcome(for: self) { ring() }
    }

    /// Has the loop look for outcomes.
    func ring() { link.noteReady() }

    func connectionDidEnd() {
        let isIdle = waits.withLock { $0.isEmpty }
        if isIdle { UVRunLoop.invalidate(self) } else { ring() }
    }
}

extension ReplyBell {
    private final class Receiver: PortReceiver {
        let connection: RemoteConnection
        let loop: UVRunLoop

        init(_ connection: RemoteConnection, _ loop: UVRunLoop) {
            self.connection = connection
            self.loop = loop
        }

        func checkHome(is thread: ThreadIdentity) {}

        func receive(
            _ port: any UVRunLoop.PortSource,
            _ events: UVRunLoop.DescriptorSource.Events
        ) -> PortAnswer {
            guard let bell = port as? ReplyBell else { return PortAnswer(wasHandled: false) }
            connection.takeIn(for: bell)
            return PortAnswer(wasHandled: connection.hasOutcome(for: bell))
        }

        func letGo(in loop: UVRunLoop?) {}

        func loopDidEnd(_ port: any UVRunLoop.PortSource) {
            guard let bell = port as? ReplyBell else { return }
            connection.forget(bell)
        }
    }
}
