// The handlers of items that are called often. They are not generic, because a closure stored by a
// generic type is wrapped in another closure, and there may be a million timers, and observers are
// called several times per pass.

/// A timer's handler, which is lent to a call and not copied.
///
/// A handler that is to be released during its call is released by the end of the call. Unchecked
/// for the same reason as ``HomeBound``: the timer checks the thread.
struct TimerCall: ~Copyable, @unchecked Sendable {
    let body: (UVRunLoop.Timer) -> Void
}

/// An observer's handler; an object, so that it can be called without being retained.
final class ObserverCall {
    let body: (UVRunLoop.Observer, UVRunLoop.Activities) -> Void

    init(body: @escaping (UVRunLoop.Observer, UVRunLoop.Activities) -> Void) { self.body = body }
}

/// A descriptor source's handler; an object for the same reason.
final class DescriptorCall {
    let body: (UVRunLoop.DescriptorSource, UVRunLoop.DescriptorEvents) -> Void

    init(body: @escaping (UVRunLoop.DescriptorSource, UVRunLoop.DescriptorEvents) -> Void) {
        self.body = body
    }
}
