/// A call that several threads make at the same time.
struct Call: Sendable {
    /// The name in tables and on the command line.
    let name: String
    /// Whether it is CFRunLoop's or the machine's, which is shown and not judged.
    var isPeers = false
    /// Whether the threads that call are threads of `UVRunLoop.Thread`.
    var needsLoopThreads = false
    /// Makes the object, for a number of threads.
    let setUp: @Sendable (_ threads: Int) -> Workload

    init(_ name: String, setUp: @escaping @Sendable (_ threads: Int) -> Workload) {
        self.name = name
        self.setUp = setUp
    }

    /// The same call of CFRunLoop.
    static func peer(
        _ name: String,
        setUp: @escaping @Sendable (_ threads: Int) -> Workload
    ) -> Call {
        var call = Call(name + ", CFRunLoop", setUp: setUp)
        call.isPeers = true
        return call
    }

    /// A call that shows what the machine and the language can do.
    static func reference(
        _ name: String,
        setUp: @escaping @Sendable (_ threads: Int) -> Workload
    ) -> Call {
        var call = Call("reference: " + name, setUp: setUp)
        call.isPeers = true
        return call
    }
}

/// The work of the threads of one measurement.
struct Workload: Sendable {
    /// Makes one call: the n-th of one of the threads.
    let call: @Sendable (_ thread: Int, _ number: Int) -> Void
    /// How many calls a thread can make, where objects were made for them.
    var most = Int.max
    /// Waits until what the calls have handed over is done; this belongs to what is measured.
    var finish: @Sendable () -> Void = {}
    /// Ends what was set up.
    var cleanUp: @Sendable () -> Void = {}
}
