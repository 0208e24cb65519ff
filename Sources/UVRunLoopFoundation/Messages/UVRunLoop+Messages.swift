public import UVRunLoop

// `perform(_:target:argument:order:modes:)` and its cancellation, without selectors: `Worker.work`
// takes the place of `#selector(work)`. Methods cannot be compared, so a message is cancelled by its
// target and argument alone.

extension UVRunLoop {
    /// Sends a target a message in the next pass, in the first of some modes that runs.
    ///
    /// Pending messages are sent by `order`, lower ones first, and those of equal order in the
    /// order of the calls. Until it is sent, each is a custom source of the loop: it keeps its
    /// modes from being empty, and sending it ends a run that returns after a source. Target and
    /// argument are retained until then.
    ///
    /// > Threading: The loop's own thread; traps elsewhere. From other threads use
    /// > `requestPerform`.
    ///
    /// - Parameters:
    ///   - selector: A method of the target, such as `Worker.work`.
    ///   - target: The receiver.
    ///   - argument: The method's argument.
    ///   - order: The position among the messages and the other custom sources of a mode.
    ///   - modes: The modes in which it may be sent; with none, it never is.
    @available(*, noasync, message: "A task may go on on another thread. Use perform(_:).")
    public func perform<Target: AnyObject, Argument: Hashable>(
        _ selector: @escaping (Target) -> (Argument) -> Void,
        target: Target,
        argument: Argument,
        order: Int,
        modes: [Mode]
    ) {
        send(to: target, Self.key(of: argument), order, modes) { selector(target)(argument) }
    }

    /// Sends a target a message without argument in the next pass, in the first of some modes that
    /// runs.
    ///
    /// Otherwise as ``perform(_:target:argument:order:modes:)``.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameters:
    ///   - selector: A method of the target, such as `Worker.work`.
    ///   - target: The receiver.
    ///   - order: The position among the messages and the other custom sources of a mode.
    ///   - modes: The modes in which it may be sent; with none, it never is.
    @available(*, noasync, message: "A task may go on on another thread. Use perform(_:).")
    public func perform<Target: AnyObject>(
        _ selector: @escaping (Target) -> () -> Void,
        target: Target,
        order: Int,
        modes: [Mode]
    ) {
        send(to: target, nil, order, modes) { selector(target)() }
    }

    /// Cancels the pending messages to a target that have an equal argument.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameters:
    ///   - target: The receiver.
    ///   - argument: The argument; `nil` for messages without one, or whose argument is `nil`.
    public func cancelPerform(target: AnyObject, argument: AnyHashable?) {
        checkThreadOfMessages()
        let key = Self.key(of: argument)
        WaitingMessages.cancel(in: self) { $0.target === target && $0.argument == key }
    }

    /// Cancels all pending messages to a target.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameter target: The receiver.
    public func cancelPerformSelectors(withTarget target: AnyObject) {
        checkThreadOfMessages()
        WaitingMessages.cancel(in: self) { $0.target === target }
    }

    /// The value by which a message's argument is compared: one that is optional counts as what it
    /// holds, because the call that cancels the message gets it so.
    fileprivate static func key<Argument: Hashable>(of argument: Argument) -> AnyHashable? {
        if let argument = argument as? any OptionalArgument { return argument.key }
        return AnyHashable(argument)
    }

    private func send(
        to target: AnyObject,
        _ argument: AnyHashable?,
        _ order: Int,
        _ modes: [Mode],
        _ action: @escaping () -> Void
    ) {
        checkThreadOfMessages()
        guard !modes.isEmpty else { return }
        let number = WaitingMessages.nextNumber()
        let forget: Source.ModeHandler = { loop, _ in WaitingMessages.forget(number, in: loop) }
        let source = Source(order: order, cancel: forget) { source in
            // Invalidated first, because the action may run the loop.
            source.invalidate()
            action()
        }
        for mode in modes { add(source, forMode: mode) }
        // A loop that has ended ignores `add`.
        guard modes.contains(where: { contains(source, forMode: $0) }) else { return }
        let message = WaitingMessages.Message(source: source, target: target, argument: argument)
        WaitingMessages.keep(message, number, in: self)
        source.signal()
    }

    private func checkThreadOfMessages() {
        checkProcess()
        require(
            isOnOwnThread,
            "This run loop belongs to another thread. Make the call there, or use requestPerform."
        )
    }
}

private protocol OptionalArgument {
    var key: AnyHashable? { get }
}

extension Optional: OptionalArgument where Wrapped: Hashable {
    fileprivate var key: AnyHashable? { flatMap { UVRunLoop.key(of: $0) } }
}
