/// The item types of a loop, as the engine uses them.
///
/// The engine names no item class: it is generic over these types, and specialised in this module.
protocol ItemTypes {
    associatedtype Timer: TimerReference
    associatedtype Observer: ObserverReference
    associatedtype Source: SourceReference
    associatedtype Port: PortReference
}

/// A timer, which contains its changing state.
protocol TimerReference: AnyObject, Sendable {
    var core: TimerCore { get set }
    /// The next date, in nanoseconds of the loop's clock; read without the lock, set under it.
    var date: Int64 { get set }
    var traits: TimerTraits { get }
    /// Calls a body with its extras, if it has any.
    func withExtras<Result>(_ body: (TimerExtras) -> Result) -> Result?
    /// Returns its extras, which are made if it has none.
    func makeExtras() -> TimerExtras
}

/// An observer.
protocol ObserverReference: AnyObject, Sendable {
    var activities: UVRunLoop.Activities { get }
    var order: Int { get }
}

/// A custom source.
protocol SourceReference: AnyObject, Sendable {
    var order: Int { get }
}

/// A port-based source.
protocol PortReference: AnyObject, Sendable {
    /// The descriptor to watch; `nil` if the source has none.
    var descriptor: CInt? { get }
    /// Whether a poll may find it ready: it has a descriptor, or a handle of libuv.
    var isPolled: Bool { get }
    /// The initial events to watch for.
    var events: UVRunLoop.DescriptorEvents { get }
    var order: Int { get }
    /// Whether it initially keeps its modes from being empty.
    var keepsModes: Bool { get }
    /// Whether its handler is running, in this loop or in one that it left during the call.
    var isBeingCalled: Bool { get set }
}
