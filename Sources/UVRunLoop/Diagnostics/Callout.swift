/// The call of a handler, as tracers are notified of it.
package struct Callout: Sendable {
    package let kind: UVRunLoop.HandlerKind
    package let label: String?
    private var subject = Subject.itself
    /// For a timer, how many nanoseconds after its date it was called, by the loop's clock; `nil`
    /// for a call by hand.
    package var lateness: Int64?
    /// For a timer, how many dates more than its own the call stands for.
    package var missed = 0

    /// What is called, as text is made of it later, if at all: for a port's type that takes
    /// microseconds.
    private enum Subject {
        case itself
        case observer(UVRunLoop.Activities)
        case port(any AnyObject.Type)
    }

    /// Describes a call that is about to begin, on the loop's thread.
    init(
        _ kind: UVRunLoop.HandlerKind,
        _ item: AnyObject?,
        _ activity: UVRunLoop.Activities,
        isByHand: Bool,
        in loop: UVRunLoop
    ) {
        self.kind = kind
        label = UVRunLoop.label(of: item)
        switch item {
        case let timer as UVRunLoop.Timer where !isByHand:
            lateness = max(0, loop.time - timer.nextFireDate.nanoseconds)
            missed = timer.missedFires
        case is UVRunLoop.Observer: subject = .observer(activity)
        case let port as any UVRunLoop.PortSource: subject = .port(type(of: port))
        default: break
        }
    }

    /// The activity that an observer is notified of, or the kind of a port, such as
    /// `DescriptorSource`.
    package var detail: String? {
        switch subject {
        case .itself: nil
        case .observer(let activity): "\(activity)"
        case .port(let type): UVRunLoop.PortLink.kind(type)
        }
    }

    /// The label, or what it is: `timer`, `observer beforeWaiting`.
    package var name: String { label ?? detail.map { "\(kind) \($0)" } ?? "\(kind)" }
}
