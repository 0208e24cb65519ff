/// The item types that the engine is specialised for.
enum LoopItems: ItemTypes {
    typealias Timer = UVRunLoop.Timer
    typealias Observer = UVRunLoop.Observer
    typealias Source = UVRunLoop.Source
    typealias Port = ServedPort
}

typealias Engine = GenericEngine<LoopItems>

extension UVRunLoop.Timer: TimerReference {}

extension UVRunLoop.Observer: ObserverReference {}

extension UVRunLoop.Source: SourceReference {}

/// A port-based source and its link, as the engine uses them.
///
/// An object, so that an event retains one reference.
final class ServedPort: PortReference {
    /// The source as an object, whose type its receiver knows.
    ///
    /// Assigning an optional that contains a protocol value uses the type's metadata, which takes
    /// 100 instructions.
    let object: any AnyObject & Sendable
    let link: UVRunLoop.PortLink

    init(_ source: any UVRunLoop.PortSource) {
        object = source
        link = source.link
    }

    var descriptor: CInt? { link.descriptor }
    var isPolled: Bool { link.descriptor != nil || link.isHosted }
    var events: UVRunLoop.DescriptorEvents { link.events }
    var order: Int { link.order }
    var keepsModes: Bool { link.keepsModes }

    var isBeingCalled: Bool {
        get { link.isBeingCalled }
        set { link.isBeingCalled = newValue }
    }
}
