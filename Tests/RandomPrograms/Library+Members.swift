import TestSupport
import UVRunLoop

extension Library {
    func makeMember(_ item: Int) -> Member {
        switch performance.program.items[item].kind {
        case .source(let order): .source(makeSource(item, order))
        case .observer(let activities, let repeats, let order):
            .observer(
                UVRunLoop.Observer(
                    activities: UVRunLoop.Activities(rawValue: activities),
                    repeats: repeats,
                    order: order
                ) { [unowned self] _, activity in
                    callOut(item, .notified(item, activity: activity.rawValue, place))
                }
            )
        case .timer(let date, let interval, let tolerance):
            .timer(
                UVRunLoop.Timer(
                    at: instant(date),
                    interval: interval.map { .nanoseconds($0) },
                    tolerance: .nanoseconds(tolerance)
                ) { [unowned self] timer in
                    callOut(item, .fired(item, missed: timer.missedFires, place))
                }
            )
        case .reader(let order): makeDescriptorSource(item, .readable, order)
        case .writer(let order): makeDescriptorSource(item, .writable, order)
        case .port(let capacity, let order):
            .port(
                UVRunLoop.Port(capacity: capacity, order: order) { [unowned self] _, message in
                    callOut(item, .received(item, message: message.id, place))
                }
            )
        case .block: .block
        }
    }

    private func makeSource(_ item: Int, _ order: Int) -> UVRunLoop.Source {
        UVRunLoop.Source(
            order: order,
            schedule: { [unowned self] _, mode in noteMembership(mode) { .scheduled(item, $0) } },
            cancel: { [unowned self] _, mode in noteMembership(mode) { .cancelled(item, $0) } },
            perform: { [unowned self] _ in callOut(item, .performed(item, place)) }
        )
    }

    private func noteMembership(_ mode: UVRunLoop.Mode, _ event: (ModeName) -> Event) {
        guard let name = ModeName(mode) else { return }
        let event = event(name)
        membershipEvents.withLock { $0.append(event) }
    }

    private func makeDescriptorSource(
        _ item: Int,
        _ events: UVRunLoop.DescriptorSource.Events,
        _ order: Int
    ) -> Member {
        let pipe = Pipe()
        do {
            let source = try UVRunLoop.DescriptorSource(
                events == .readable ? pipe.readEnd : pipe.writeEnd,
                events: events,
                order: order
            ) { [unowned self] _, events in
                callOut(item, .served(item, events: events.rawValue, place))
            }
            return .descriptor(source, pipe)
        } catch {
            fatalError("A pipe can be watched: \(error)")
        }
    }
}
