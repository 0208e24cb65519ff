import Synchronization
import UVRunLoop

/// One of the numbered programs of Apple's guide.
struct Listing: Sendable {
    /// Its number in the guide, such as 3-7.
    let number: String
    let title: String
    private let routine: @Sendable (Log) throws -> Void

    init(_ number: String, _ title: String, _ routine: @escaping @Sendable (Log) throws -> Void) {
        self.number = number
        self.title = title
        self.routine = routine
    }

    /// Runs the listing on a new thread and waits for its end.
    ///
    /// A thread of its own has a fresh run loop, which is torn down with everything added to it
    /// when the thread ends.
    func run(_ log: Log) throws {
        let failure = Mutex<(any Error)?>(nil)
        let thread = try startThread("listing \(number)") {
            do {
                try routine(log)
            } catch {
                failure.withLock { $0 = error }
            }
        }
        thread.join()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}

extension Listing {
    /// All listings, in the order of the guide.
    static let all = [
        Listing("3-1", "Creating a run loop observer") { createAnObserver($0) },
        Listing("3-2", "Running a run loop", runARunLoop),
        Listing("3-3", "The custom input source object", defineASource),
        Listing("3-4", "Scheduling a run loop source", scheduleASource),
        Listing("3-5", "Performing work in the input source", performWork),
        Listing("3-6", "Invalidating an input source", invalidateASource),
        Listing("3-7", "Installing the run loop source", installASource),
        Listing("3-8", "Registering and removing an input source", coordinateWithAClient),
        Listing("3-9", "Waking up the run loop", wakeTheLoop),
        Listing("3-10", "Creating and scheduling timers") { scheduleTwoTimers($0) },
        Listing("3-11", "A timer in the common modes") { scheduleACommonTimer($0) },
        Listing("3-12", "Main thread launch method", launchAThread),
        Listing("3-13", "Handling port messages", handlePortMessages),
        Listing("3-14", "Launching the worker thread using ports", runAWorkerThread),
        Listing("3-15", "Sending the check-in message using ports", checkIn),
        Listing("3-16", "Registering a message port", registerAMessagePort),
        Listing("3-17", "Attaching a message port to a new thread", attachAMessagePort),
        Listing("3-18", "Receiving the check-in message", receiveACheckIn),
        Listing("3-19", "Setting up the thread structures", setUpAThread),
    ]

    static func numbered(_ number: String) -> Listing? { all.first { $0.number == number } }
}
