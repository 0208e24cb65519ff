/// The part that one thread takes in one kind of load for one scenario.
protocol Traffic: AnyObject {
    /// Puts up the inlets that other threads send to.
    init(_ worker: Worker)

    /// Looks up the inlets that other threads have put up.
    func connect()

    /// Does something, by choices of the generator.
    func act(_ generator: inout Generator)

    /// Does what is left to do so that everything sent can arrive.
    ///
    /// Nothing is sent afterwards.
    func finishSending()

    /// Checks what remains to be checked, and takes everything down.
    func close()
}

extension Traffic {
    func connect() {}
    func finishSending() {}
    func close() {}
}

extension Kind {
    /// The type of its traffic.
    var traffic: any Traffic.Type {
        switch self {
        case .timers: TimerTraffic.self
        case .blocks: BlockTraffic.self
        case .signals: SignalTraffic.self
        case .descriptors: DescriptorTraffic.self
        case .ports: PortTraffic.self
        case .performs: PerformTraffic.self
        case .nested: NestedTraffic.self
        case .changes: ChangeTraffic.self
        case .interrupts: InterruptTraffic.self
        case .threads: ThreadTraffic.self
        case .captures: CaptureTraffic.self
        case .forks: ForkTraffic.self
        }
    }
}
