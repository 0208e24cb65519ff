/// The items of a loop, as far as the engine knows them.
///
/// The engine names no class of item: it is generic over these, and specialised in the module.
protocol ItemTypes {
    associatedtype Timer: TimerReference
    associatedtype Observer: ObserverReference
    associatedtype Source: SourceReference
    associatedtype Port: PortReference
}

/// A timer, with what changes about it inside.
protocol TimerReference: AnyObject, Sendable {
    associatedtype Call: Sendable

    var core: TimerCore { get set }
    /// What it calls; `nil` once that was released.
    var call: Call? { get }
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
protocol PortReference: Sendable {
    /// What the kernel is asked about; `nil` for a source that the kernel knows nothing of.
    var descriptor: CInt? { get }
    /// What the kernel is asked for at first.
    var events: UVRunLoop.DescriptorEvents { get }
    var order: Int { get }
    /// Whether it keeps its modes from being empty, at first.
    var keepsModes: Bool { get }
    /// Whether its handler is on the stack, of this loop or of the one that it has left during the
    /// call.
    var isBeingCalled: Bool { get nonmutating set }
}
