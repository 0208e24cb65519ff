/// The process that made an object.
///
/// A forked child inherits the object; what it stands for stays its parent's.
package struct OwnerProcess: Sendable {
    private let forkCount: UInt64

    /// The process that calls this.
    package init() { forkCount = ForkCount.current }

    /// Whether it is this process, and not one that forked it.
    package var isCurrent: Bool { forkCount == ForkCount.current }

    /// Traps in a forked child, where the object may not be used.
    ///
    /// - Parameters:
    ///   - caller: Returns what the message of the trap names.
    ///   - reason: The rest of the sentence whose subject is the object.
    package func require(_ caller: () -> Caller, _ reason: StaticString) {
        guard !isCurrent else { return }
        let caller = caller()
        fail("\(caller.subject) \(reason)", file: caller.file, line: caller.line)
    }

    /// Calls code of the program; traps if it returns in a forked child.
    ///
    /// For callers that would go on there before a run's own check, with what belongs to the parent.
    ///
    /// - Parameters:
    ///   - subject: What the code is, as the message of the trap begins with it.
    ///   - body: The code.
    /// - Returns: What the code returns.
    package static func callWithoutFork<Result>(
        _ subject: StaticString,
        _ body: () -> Result
    ) -> Result {
        let process = OwnerProcess()
        let result = body()
        if !process.isCurrent { fail("\(subject) that forks must not return in the child.") }
        return result
    }
}
