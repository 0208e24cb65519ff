// The handlers of timers and observers. They are not generic, because a closure that a generic type
// stores is wrapped in another one: there may be a million timers, and observers are called several
// times a pass. Unchecked for the same reason as `ThreadBound`: the items check the thread.

/// A timer's handler.
struct TimerCall: @unchecked Sendable {
    let body: (UVRunLoop.Timer) -> Void
}

/// An observer's handler: an object, so that it can be lent for a call without being retained.
final class ObserverCall: @unchecked Sendable {
    let body: (UVRunLoop.Observer, UVRunLoop.Activities) -> Void

    init(body: @escaping (UVRunLoop.Observer, UVRunLoop.Activities) -> Void) { self.body = body }
}
