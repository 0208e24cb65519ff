import UVRunLoop

/// The state that a worker's thread and the rest of the program share.
final class WorkerHome: Sendable {
    /// The message of a worker when its loop is there.
    struct Address: Sendable {
        let worker: Confined<Worker>
        let loop: UVRunLoop
        let stops: StopCount
    }

    let tally = Tally()
    private static let workers = Locked<[ObjectIdentifier: Confined<Worker>]>([:])
    private let address = Signpost<Address>()
    private let result = Signpost<Lateness>()

    func didStart(_ worker: Confined<Worker>, _ loop: UVRunLoop, _ stops: StopCount) {
        Self.workers.withLock { $0[ObjectIdentifier(loop)] = worker }
        address.set(Address(worker: worker, loop: loop, stops: stops))
    }

    func didEnd(_ loop: UVRunLoop, _ lateness: Lateness) {
        _ = Self.workers.withLock { $0.removeValue(forKey: ObjectIdentifier(loop)) }
        result.set(lateness)
    }

    /// Whose loop it is, if it is one under load.
    ///
    /// For use on the thread of the loop.
    static func worker(of loop: UVRunLoop) -> Worker? {
        workers.withLock { $0[ObjectIdentifier(loop)] }?.value
    }

    /// Waits for the worker's loop.
    func awaitAddress() -> Address { address.wait() }

    /// Waits for what the worker has measured.
    func awaitResult() -> Lateness { result.wait() }
}
