import UVRunLoop

/// A driver whose time is a virtual clock's, and which watches real descriptors with poll(2).
package final class VirtualDriver: LoopDriver {
    private let clock: UVRunLoop.VirtualClock
    private let wakeState: WakeState
    private let virtualRemote: VirtualRemote
    private var wakeEvent: WakeEvent?
    private var ready: [ReadyReport] = []

    package init(
        wakeState: WakeState,
        clock: UVRunLoop.VirtualClock,
        name: String? = nil
    ) throws(UVError) {
        self.clock = clock
        self.wakeState = wakeState
        let wakeEvent = try WakeEvent()
        let wakeDescriptor = wakeEvent.number
        self.wakeEvent = consume wakeEvent
        let number = clock.state.withLock {
            $0.addLoop(name, wakeState, wakeDescriptor: wakeDescriptor)
        }
        virtualRemote = VirtualRemote(clock, number: number)
    }

    package var remote: any LoopRemote { virtualRemote }

    package func poll() {
        let number = virtualRemote.number
        ready = clock.state.withLock { $0.poll(number, of: .current) }
    }

    package func wait(until moment: Moment?, now: Int64) {
        poll()
        guard ready.isEmpty, wakeState.fallAsleep() else { return }
        ready = clock.sleep(
            virtualRemote.number,
            until: moment?.date,
            nestingLevel: UVRunLoop.current.nestingLevel
        )
        wakeState.awaken()
    }

    package var readyCount: Int { ready.count }

    package func takeReport() -> ReadyReport? {
        ready.isEmpty ? nil : ready.removeFirst()
    }

    package func watch(
        _ changes: [WatchChange],
        ifCurrent isCurrent: (WatchChange) -> Bool,
        refused: (WatchChange, UVError) -> Void
    ) {
        virtualRemote.watch(changes, ifCurrent: isCurrent, refused: refused)
    }

    package func rearm(_ change: WatchChange) -> Bool {
        virtualRemote.rearm(change)
        return true
    }

    /// The clock forgets the loop before its wake event is closed.
    package func close() {
        virtualRemote.close()
        wakeEvent = nil
        ready = []
    }
}
