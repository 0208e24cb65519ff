import Glibc
import UVRunLoop

/// Items whose handlers are bound to this thread, and which other threads invalidate, take out or
/// are the last to hold: what a handler has captured is released on this thread, once, and soon.
final class CaptureTraffic: Traffic {
    /// What becomes of an item.
    private enum Fate: CaseIterable {
        /// Another thread invalidates it.
        case invalidated
        /// Another thread invalidates it while this one does.
        case invalidatedTwice
        /// Another thread takes it out of the loop and is the last to hold it.
        case takenOut
        /// It never was in a loop, and another thread is the last to hold it.
        case leftAlone
    }

    /// How many items may be on their way.
    private static let window = 500

    private let worker: Worker
    private let channel = Channel(isSocket: false)

    init(_ worker: Worker) { self.worker = worker }

    func act(_ generator: inout Generator) {
        guard worker.desk.ledger(.captures).outstanding < Self.window else { return }
        let kind = generator.pick(CapturedItem.Kind.allCases)
        let item = CapturedItem(kind, channel.readEnd, worker)
        let fate = generator.pick(Fate.allCases)
        if fate != .leftAlone || !item.mayBeLeftAlone { item.add(to: worker.loop) }
        let loop = worker.loop
        worker.handOver(&generator) {
            switch fate {
            case .invalidated, .invalidatedTwice: item.invalidate()
            case .takenOut: item.takeOut(of: loop)
            case .leftAlone: item.leave()
            }
        }
        if fate == .invalidatedTwice { item.invalidate() }
    }

    func close() {
        Glibc.close(channel.readEnd)
        Glibc.close(channel.writeEnd)
    }
}

/// What a handler has captured: it knows on which thread it has to be released.
private final class Capture {
    private let kind: CapturedItem.Kind
    private let worker: Confined<Worker>
    private let desk: Desk
    private let home = pthread_self()

    init(_ kind: CapturedItem.Kind, _ worker: Worker) {
        self.kind = kind
        self.worker = Confined(worker)
        desk = worker.desk
        desk.ledger(.captures).send()
        if Fault.keepsCapture.strikes(worker.settings.fault) { _ = Unmanaged.passRetained(self) }
    }

    deinit {
        demand(
            pthread_equal(home, pthread_self()) != 0,
            "what the handler of a \(kind) has captured to be released on its thread",
            "it released on another thread"
        )
        // A block, because the run may be at its very end. It ends a sleep, too.
        desk.loop.perform { [worker] in
            worker.value.tally.count(.capturesReleased)
            worker.value.didFinish(.captures)
        }
    }
}

/// An item whose handler is bound to the thread that makes it.
private struct CapturedItem: Sendable {
    enum Kind: CaseIterable { case observer, request, descriptor, source, timer, port, block }

    private enum Item: Sendable {
        case observer(UVRunLoop.Observer)
        case request(UVRunLoop.PerformRequest)
        case descriptor(UVRunLoop.DescriptorSource)
        case source(UVRunLoop.Source)
        case timer(UVRunLoop.Timer)
        case port(UVRunLoop.Port)
        case block
    }

    private let item: Item

    init(_ kind: Kind, _ descriptor: CInt, _ worker: Worker) {
        let capture = Capture(kind, worker)
        let hold = { withExtendedLifetime(capture) {} }
        switch kind {
        case .observer:
            item = .observer(.init(activities: [.beforeTimers, .exit]) { _, _ in hold() })
        case .request:
            item = .request(worker.loop.requestPerformLocally(after: .seconds(3_600), hold))
        case .descriptor:
            do {
                item = .descriptor(try .init(descriptor, events: .readable) { _, _ in hold() })
            } catch {
                Verdict.fail(expected: "a source for a pipe", seen: "\(error)")
            }
        case .source: item = .source(.init { _ in hold() })
        case .timer: item = .timer(.init(after: .seconds(3_600)) { _ in hold() })
        case .port: item = .port(.init { _, _ in hold() })
        case .block:
            worker.loop.performLocally(inModes: [.common], hold)
            item = .block
        }
    }

    /// Whether it goes away when nobody holds it: a request waits in its loop.
    var mayBeLeftAlone: Bool {
        switch item {
        case .request, .block: false
        default: true
        }
    }

    func add(to loop: UVRunLoop) {
        switch item {
        case .observer(let observer): loop.add(observer, forMode: .common)
        case .descriptor(let source): loop.add(source, forMode: .default)
        case .source(let source): loop.add(source, forMode: .common)
        case .timer(let timer): loop.add(timer, forMode: .common)
        case .port(let port): loop.add(port, forMode: .default)
        case .request, .block: break
        }
    }

    func takeOut(of loop: UVRunLoop) {
        switch item {
        case .observer(let observer): loop.remove(observer, forMode: .common)
        case .descriptor(let source): loop.remove(source, forMode: .default)
        case .source(let source): loop.remove(source, forMode: .common)
        case .timer(let timer): loop.remove(timer, forMode: .common)
        case .port(let port): loop.remove(port, forMode: .default)
        case .request, .block: invalidate()
        }
    }

    func invalidate() {
        switch item {
        case .observer(let observer): observer.invalidate()
        case .descriptor(let source): source.invalidate()
        case .source(let source): source.invalidate()
        case .timer(let timer): timer.invalidate()
        case .port(let port): port.invalidate()
        case .request(let request): request.cancel()
        case .block: break
        }
    }

    /// Gives up the last reference, or what is like it.
    func leave() { if !mayBeLeftAlone { invalidate() } }
}
