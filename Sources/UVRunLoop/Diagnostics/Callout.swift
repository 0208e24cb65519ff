/// The call of a handler, as tracers are notified of it.
package struct Callout: Sendable {
    package let kind: UVRunLoop.HandlerKind
    package let label: String?
    /// Describes the item if it has no label, such as `DescriptorSource: descriptor 5, readable`.
    package var detail: String?
    /// For a timer, how many nanoseconds after its date it was called, by the loop's clock; `nil`
    /// for a call by hand.
    package var lateness: Int64?
    /// For a timer, how many dates more than its own the call stands for.
    package var missed = 0

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
        case is UVRunLoop.Observer: detail = "\(activity)"
        case let port as any UVRunLoop.PortSource: detail = UVRunLoop.PortLink.kind(of: port)
        default: break
        }
    }

    /// The label, or what it is: `timer`, `observer beforeWaiting`.
    package var name: String { label ?? detail.map { "\(kind) \($0)" } ?? "\(kind)" }
}
