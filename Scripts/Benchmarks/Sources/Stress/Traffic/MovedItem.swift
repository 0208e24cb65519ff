import BenchSupport
import UVRunLoop

/// An item that one thread puts into other threads' loops and takes out of them.
///
/// Only that thread does, so it knows at any time where the item is.
final class MovedItem {
    enum Kind: CaseIterable { case source, timer, observer, port }

    private enum Item {
        case source(UVRunLoop.Source)
        case timer(UVRunLoop.Timer)
        case observer(UVRunLoop.Observer)
        case port(UVRunLoop.Port)
    }

    private static let commonModes: [UVRunLoop.Mode] = [.default, Modes.other]
    private static let modes = commonModes + [Modes.apart, .common]

    let kind: Kind
    private let item: Item
    private let tally: Tally
    private let fault: Fault?
    private var loop: UVRunLoop?
    /// The modes that it is in.
    private var modes: Set<UVRunLoop.Mode> = []
    /// Whether it was added to the common modes.
    private var isCommon = false
    /// How many modes a source was told to have joined and left.
    private let joined: Number
    private let left: Number

    init(_ kind: Kind, _ tally: Tally, _ fault: Fault?) {
        self.kind = kind
        self.tally = tally
        self.fault = fault
        let (joined, left, calls) = (Number(), Number(), tally)
        (self.joined, self.left) = (joined, left)
        switch kind {
        case .source:
            let home = Confined(())
            let source = UVRunLoop.Source(
                schedule: { _, _ in
                    home.value
                    joined.add()
                },
                cancel: { _, _ in
                    home.value
                    left.add()
                },
                sendablePerform: { source in
                    Self.wasCalled(as: calls) { $0.noteSource(order: source.order) }
                }
            )
            item = .source(source)
        case .timer: item = .timer(Self.makeTimer(calls))
        case .observer:
            let observer = UVRunLoop.Observer(
                activities: [.beforeTimers, .afterWaiting],
                sendableHandler: { _, _ in Self.wasCalled(as: calls) { _ in } }
            )
            item = .observer(observer)
        case .port:
            let port = UVRunLoop.Port(
                capacity: 2,
                sendableHandler: { _, _ in Self.wasCalled(as: calls) { $0.notePort() } }
            )
            item = .port(port)
        }
    }

    private static func makeTimer(_ tally: Tally) -> UVRunLoop.Timer {
        let depth = Number()
        return UVRunLoop.Timer(
            after: .microseconds(500),
            interval: .microseconds(700),
            sendableHandler: { _ in
                demand(depth.add() == 1, "one call of a timer at a time", "two")
                wasCalled(as: tally) { $0.noteTimer(date: nil) }
                depth.add(-1)
            }
        )
    }

    /// Takes down a call in the loop that makes it.
    private static func wasCalled(as tally: Tally, _ note: (RunBook) -> Void) {
        guard let worker = WorkerHome.worker(of: UVRunLoop.current) else {
            Verdict.fail(
                expected: "an item to be called by a loop it was added to",
                seen: "another"
            )
        }
        note(worker.book)
        tally.count(.movedItemsCalled)
    }

    // MARK: In and out

    func putSomewhere(_ workloads: [Workload], _ generator: inout Generator) {
        let loop = self.loop ?? generator.pick(workloads).loop
        let mode = generator.pick(Self.modes)
        self.loop = loop
        if mode == .common {
            // Adding it again would bring it back to modes that it was taken out of.
            guard !isCommon else { return }
            isCommon = true
            modes.formUnion(Self.commonModes)
        } else {
            modes.insert(mode)
        }
        tally.count(.itemsAdded)
        if Fault.misplacesItem.strikes(fault) { return check() }
        switch item {
        case .source(let source): loop.add(source, forMode: mode)
        case .timer(let timer): loop.add(timer, forMode: mode)
        case .observer(let observer): loop.add(observer, forMode: mode)
        case .port(let port): loop.add(port, forMode: mode)
        }
        check()
    }

    func takeOutOfOneMode(_ generator: inout Generator) {
        guard let loop else { return }
        let mode = generator.pick(Self.modes)
        if mode != .common {
            modes.remove(mode)
        } else if isCommon {
            isCommon = false
            modes.subtract(Self.commonModes)
        }
        tally.count(.itemsRemoved)
        switch item {
        case .source(let source): loop.remove(source, forMode: mode)
        case .timer(let timer): loop.remove(timer, forMode: mode)
        case .observer(let observer): loop.remove(observer, forMode: mode)
        case .port(let port): loop.remove(port, forMode: mode)
        }
        check()
        // An item in no mode may go to another loop.
        if modes.isEmpty, !isCommon { self.loop = nil }
    }

    /// Gives the loop a reason to call it.
    func rouse() {
        switch item {
        case .source(let source):
            source.signal()
            loop?.wakeUp()
        case .timer(let timer): timer.nextFireDate = UVRunLoop.Instant.now
        case .observer: loop?.wakeUp()
        case .port(let port): _ = port.send(.init(), limit: .zero)
        }
    }

    /// Takes it out for good.
    func end() {
        (modes, isCommon) = ([], false)
        switch item {
        case .source(let source): source.invalidate()
        case .timer(let timer): timer.invalidate()
        case .observer(let observer): observer.invalidate()
        case .port(let port): port.invalidate()
        }
        check()
        demand(!isValid, "an invalidated \(kind) to be invalid", "a valid one")
        if let loop, case .source(let source) = item {
            loop.add(source, forMode: .default)
            demand(!contains(in: .default), "an invalid source not to be added", "it there")
        }
    }

    private var isValid: Bool {
        switch item {
        case .source(let source): source.isValid
        case .timer(let timer): timer.isValid
        case .observer(let observer): observer.isValid
        case .port(let port): port.isValid
        }
    }

    // MARK: Where it is

    private func contains(in mode: UVRunLoop.Mode) -> Bool {
        guard let loop else { return false }
        return switch item {
        case .source(let source): loop.contains(source, forMode: mode)
        case .timer(let timer): loop.contains(timer, forMode: mode)
        case .observer(let observer): loop.contains(observer, forMode: mode)
        case .port(let port): loop.contains(port, forMode: mode)
        }
    }

    /// Checks that the item is where it was put, as its own thread sees it.
    private func check() {
        for mode in Self.modes {
            let isHere = mode == .common ? isCommon : modes.contains(mode)
            demand(
                contains(in: mode) == isHere,
                "\(kind) in \(modes.map(\.rawValue)), common: \(isCommon)",
                "\(isHere ? "nothing" : "it") in \(mode.rawValue)"
            )
        }
        guard kind == .source else { return }
        let slip = Fault.miscountsModes.strikes(fault) ? 1 : 0
        demand(
            joined.value + slip - left.value == modes.count,
            "a source to be told of the \(modes.count) modes it is in before add or remove returns",
            "\(joined.value) joined and \(left.value) left"
        )
    }
}
