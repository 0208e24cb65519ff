/// The engine's state in one word: the version, and whether there may be something to do.
struct EngineSummary: Equatable {
    private(set) var bits: UInt64

    init(bits: UInt64 = 0) { self.bits = bits }

    /// The summary of an engine with nothing to serve and nothing to watch.
    static func nothingToDo(version: UInt64) -> EngineSummary { EngineSummary(bits: version << 4) }

    /// Increases with every change to what a run's view of its mode shows.
    var version: UInt64 { bits >> 4 }

    mutating func renewVersion() { bits &+= 1 << 4 }

    /// Whether a custom source is signalled in any mode.
    var mayHoldSignalledSources: Bool {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// Whether a port may be ready in any mode.
    var mayHoldReady: Bool {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// Whether the kernel may have to watch more for any mode.
    var mayHoldUnwatched: Bool {
        get { self[2] }
        set { self[2] = newValue }
    }

    /// Whether ports are expected to be ready, of which the next poll tells.
    var holdsExpectations: Bool {
        get { self[3] }
        set { self[3] = newValue }
    }

    private subscript(bit: UInt64) -> Bool {
        @inline(__always) get { bits & 1 << bit != 0 }
        @inline(__always) set { bits = newValue ? bits | 1 << bit : bits & ~(1 << bit) }
    }
}
