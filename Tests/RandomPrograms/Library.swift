import Synchronization
import TestSupport
import UVRunLoop
import UVRunLoopTesting

/// The driver and the clock that a program is carried out on.
package enum Stage: String, Sendable, CaseIterable {
    /// A driver with a virtual clock.
    case virtual
    /// libuv and real time.
    case libuv
}

/// Carries a program out on the library.
///
/// Unchecked, because blocks that come from other threads refer to it: whatever changes is touched
/// by the loop's thread alone, or by another one while the loop's waits for that.
final class Library: @unchecked Sendable {
    enum Member: Sendable {
        case source(UVRunLoop.Source)
        case observer(UVRunLoop.Observer)
        case timer(UVRunLoop.Timer)
        case descriptor(UVRunLoop.DescriptorSource, Pipe)
        case port(UVRunLoop.Port)
        case block
        /// An item that the program has let go of, because it is invalid.
        case gone
    }

    var performance: Performance
    var members: [Member] = []
    /// The items whose handlers are running.
    private(set) var itemsOnStack: [Int] = []
    let loop: UVRunLoop
    /// The virtual clock; `nil` in real time.
    let clock: UVRunLoop.VirtualClock?
    private let start: UVRunLoop.Instant
    /// The calls of the `schedule` and `cancel` handlers in the present action.
    let membershipEvents = Guarded<[Event]>([])
    /// Set when the loop had to be stopped because it would not end by itself.
    let ending: Ending

    /// Tells the loop's thread that somebody had to stop its loop.
    final class Ending: Sendable {
        let event = Guarded<Event?>(nil)

        func note(_ end: Event) { event.withLock { $0 = $0 ?? end } }
    }

    private init(
        _ program: Program,
        _ loop: UVRunLoop,
        _ clock: UVRunLoop.VirtualClock?,
        _ ending: Ending
    ) {
        self.loop = loop
        self.clock = clock
        self.ending = ending
        performance = Performance(program)
        start = loop.now
    }

    /// The events that happen when a program is carried out.
    static func trace(of program: Program, on stage: Stage) -> [Event] {
        let ending = Ending()
        let spinning = LoopReference()
        var watched: WatchedDriver?
        let clock = stage == .virtual ? UVRunLoop.VirtualClock() : nil
        let library = UVRunLoop.withLoop { wakeState in
            let made = WatchedDriver(driver(wakeState, clock)) {
                ending.note(.spun)
                spinning.loop?.stop()
            }
            watched = made
            return made
        } _: { loop in
            spinning.loop = loop
            let library = Library(program, loop, clock, ending)
            guard let watched else { preconditionFailure("There is a driver.") }
            library.carryOut(on: watched)
            return library
        }
        library.flush()
        if let end = ending.event.withLock({ $0 }) { library.performance.note(end) }
        return library.performance.trace
    }

    private final class LoopReference { weak var loop: UVRunLoop? }

    private static func driver(
        _ wakeState: WakeState,
        _ clock: UVRunLoop.VirtualClock?
    ) -> any LoopDriver {
        do {
            guard let clock else { return try UVRunLoop.makeUVDriver(wakeState) }
            return try VirtualDriver(wakeState: wakeState, clock: clock)
        } catch {
            fatalError("No descriptors are left: \(error)")
        }
    }

    private func carryOut(on driver: WatchedDriver) {
        members = performance.program.items.indices.map(makeMember)
        let guardian = Watchdog.shared.watch(self)
        let visitor = Visitor(self, driver)
        for action in performance.program.actions { carryOut(action) }
        visitor.finish()
        guardian.finish()
    }

    // MARK: Callouts

    func callOut(_ item: Int, _ event: Event) {
        itemsOnStack.append(item)
        defer { itemsOnStack.removeLast() }
        for action in performance.begin(item, event) { carryOut(action) }
        if ending.event.withLock({ $0 }) != nil { loop.stop() }
    }

    var isOver: Bool { performance.isOver || ending.event.withLock { $0 } != nil }

    var place: Place {
        Place(
            mode: loop.currentMode.flatMap(ModeName.init),
            depth: loop.nestingLevel,
            time: clock == nil ? 0 : nanoseconds(loop.now)
        )
    }

    func nanoseconds(_ instant: UVRunLoop.Instant) -> Int64 {
        start.duration(to: instant).nanosecondsRoundedUp
    }

    /// The present moment, on any thread.
    var present: UVRunLoop.Instant {
        clock?.now ?? UVRunLoop.currentInstant
    }

    func instant(_ nanoseconds: Int64) -> UVRunLoop.Instant {
        start.advanced(by: .nanoseconds(nanoseconds))
    }

    /// Notes what `schedule` and `cancel` were told.
    func flush() {
        let events = membershipEvents.withLock { events in
            defer { events = [] }
            return events
        }
        for event in events { performance.note(event) }
    }
}

extension ModeName {
    var mode: UVRunLoop.Mode { Self.modes[rawValue] }

    init?(_ mode: UVRunLoop.Mode) {
        guard let index = Self.modes.firstIndex(of: mode) else { return nil }
        self.init(rawValue: index)
    }

    private static let modes: [UVRunLoop.Mode] = [
        .default, UVRunLoop.Mode("first"), UVRunLoop.Mode("second"), .common,
    ]
}
