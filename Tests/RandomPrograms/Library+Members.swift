import TestSupport
import UVRunLoop

extension Library {
    func makeMember(_ item: Int) -> Member {
        let callee = Callee(self, item)
        return switch performance.program.items[item].kind {
        case .source(let order): .source(makeSource(item, order, callee))
        case .observer(let activities, let repeats, let order):
            .observer(
                UVRunLoop.Observer(
                    activities: UVRunLoop.Activities(rawValue: activities),
                    repeats: repeats,
                    order: order
                ) { _, activity in
                    callee.callOut { .notified($0, activity: activity.rawValue, $1) }
                }
            )
        case .timer(let date, let interval, let tolerance):
            .timer(
                UVRunLoop.Timer(
                    at: instant(date),
                    interval: interval.map { .nanoseconds($0) },
                    tolerance: .nanoseconds(tolerance)
                ) { timer in
                    callee.callOut { .fired($0, missed: timer.missedFires, $1) }
                }
            )
        case .reader(let order): makeDescriptorSource(.readable, order, callee)
        case .writer(let order): makeDescriptorSource(.writable, order, callee)
        case .port(let capacity, let order):
            .port(
                UVRunLoop.Port(capacity: capacity, order: order) { _, message in
                    callee.callOut { .received($0, message: message.id, $1) }
                }
            )
        case .block: .block
        }
    }

    private func makeSource(_ item: Int, _ order: Int, _ callee: Callee) -> UVRunLoop.Source {
        UVRunLoop.Source(
            order: order,
            schedule: { [unowned self] _, mode in noteMembership(mode) { .scheduled(item, $0) } },
            cancel: { [unowned self] _, mode in noteMembership(mode) { .cancelled(item, $0) } },
            perform: { _ in callee.callOut { .performed($0, $1) } }
        )
    }

    private func noteMembership(_ mode: UVRunLoop.Mode, _ event: (ModeName) -> Event) {
        guard let name = ModeName(mode) else { return }
        let event = event(name)
        membershipEvents.withLock { $0.append(event) }
    }

    private func makeDescriptorSource(
        _ events: UVRunLoop.DescriptorSource.Events,
        _ order: Int,
        _ callee: Callee
    ) -> Member {
        let pipe = Pipe()
        do {
            let source = try UVRunLoop.DescriptorSource(
                events == .readable ? pipe.readEnd : pipe.writeEnd,
                events: events,
                order: order
            ) { _, events in
                callee.callOut { .served($0, events: events.rawValue, $1) }
            }
            return .descriptor(source, pipe)
        } catch {
            fatalError("A pipe can be watched: \(error)")
        }
    }
}

extension Library {
    /// What an item's handler, or a block, has captured: it uses the loop when it is released.
    final class Callee {
        private unowned let library: Library
        private let loop: UVRunLoop
        private let item: Int

        init(_ library: Library, _ item: Int) {
            (self.library, loop, self.item) = (library, library.loop, item)
        }

        func callOut(_ event: (Int, Place) -> Event) {
            library.callOut(item, event(item, library.place))
        }

        // No lock is held where a handler is released.
        deinit { _ = loop.modes }
    }
}
