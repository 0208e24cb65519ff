import BenchSupport
import Glibc
import UVRunLoop

/// The capture of a handler: it knows on which thread it has to be released.
final class Capture {
    private let home = pthread_self()
    private let didRelease: @Sendable (_ isAtHome: Bool) -> Void

    init(didRelease: @escaping @Sendable (_ isAtHome: Bool) -> Void) {
        self.didRelease = didRelease
    }

    deinit { didRelease(pthread_equal(home, pthread_self()) != 0) }
}

/// An item whose handler is bound to the thread that makes it.
struct CapturedItem: Sendable {
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

    /// Makes an item on the thread of a loop.
    init(_ kind: Kind, _ descriptor: CInt, _ loop: UVRunLoop, _ capture: Capture) {
        let hold = { withExtendedLifetime(capture) {} }
        switch kind {
        case .observer:
            item = .observer(.init(activities: [.beforeTimers, .exit]) { _, _ in hold() })
        case .request:
            item = .request(loop.requestPerformLocally(after: .seconds(3_600), hold))
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
            loop.performLocally(inModes: [.common], hold)
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

    /// Does to the item what another thread is to do.
    func meet(_ fate: CaptureTraffic.Fate, _ loop: UVRunLoop) {
        switch fate {
        case .invalidated, .invalidatedTwice: invalidate()
        case .takenOut: takeOut(of: loop)
        case .leftAlone: leave()
        }
    }

    /// Gives up the last reference, or what is like it.
    func leave() { if !mayBeLeftAlone { invalidate() } }
}
