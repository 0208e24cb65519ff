public import UVRunLoop

// What `perform(_:target:argument:order:modes:)` and the calls that take it back are in a Swift
// that has no selectors: `Worker.work` stands in place of `#selector(work)`, and since methods
// cannot be compared, target and argument alone say what is cancelled.

extension UVRunLoop {
    /// Sends a target a message in the next pass of whichever of some modes runs first.
    ///
    /// Messages that wait are sent by `order`, lower ones first, and those of equal order as they
    /// were asked for. Each is a custom source of the loop until it is sent, and then in no mode any
    /// more: it keeps its modes from being empty, and sending it ends a run that returns after a
    /// source. Target and argument are kept until then.
    ///
    /// > Threading: The loop's own thread; traps elsewhere. From another, `requestPerform` of the
    /// loop does it.
    ///
    /// - Parameters:
    ///   - selector: Which of the target's methods, as `Worker.work`.
    ///   - target: Whom to call.
    ///   - argument: What to call it with.
    ///   - order: The turn among the messages and the other custom sources of a mode.
    ///   - modes: The modes in which it may be sent; without any it never is.
    @available(*, noasync, message: "A task may go on on another thread.")
    public func perform<Target: AnyObject, Argument: Hashable>(
        _ selector: @escaping (Target) -> (Argument) -> Void,
        target: Target,
        argument: Argument,
        order: Int,
        modes: [Mode]
    ) {
        send(to: target, argument, order, modes) { selector(target)(argument) }
    }

    /// Sends a target a message without argument in the next pass of whichever of some modes runs
    /// first.
    ///
    /// Otherwise as ``perform(_:target:argument:order:modes:)``.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameters:
    ///   - selector: Which of the target's methods, as `Worker.work`.
    ///   - target: Whom to call.
    ///   - order: The turn among the messages and the other custom sources of a mode.
    ///   - modes: The modes in which it may be sent; without any it never is.
    @available(*, noasync, message: "A task may go on on another thread.")
    public func perform<Target: AnyObject>(
        _ selector: @escaping (Target) -> () -> Void,
        target: Target,
        order: Int,
        modes: [Mode]
    ) {
        send(to: target, nil, order, modes) { selector(target)() }
    }

    /// Takes back the messages to a target that wait and have an equal argument.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameters:
    ///   - target: To whom they would be sent.
    ///   - argument: With what; `nil` for those without argument.
    public func cancelPerform(target: AnyObject, argument: AnyHashable?) {
        checkThreadOfMessages()
        WaitingMessages.cancel(in: self) { $0.target === target && $0.argument == argument }
    }

    /// Takes back every message to a target that waits.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameter target: To whom they would be sent.
    public func cancelPerformSelectors(withTarget target: AnyObject) {
        checkThreadOfMessages()
        WaitingMessages.cancel(in: self) { $0.target === target }
    }

    private func send(
        to target: AnyObject,
        _ argument: AnyHashable?,
        _ order: Int,
        _ modes: [Mode],
        _ action: @escaping () -> Void
    ) {
        checkThreadOfMessages()
        let number = WaitingMessages.nextNumber()
        let forget: Source.ModeHandler = { loop, _ in WaitingMessages.forget(number, in: loop) }
        let source = Source(order: order, cancel: forget) { source in
            // In no mode any more before it is sent: whatever it does may run the loop.
            source.invalidate()
            action()
        }
        for mode in modes { add(source, forMode: mode) }
        // A loop that has ended takes nothing.
        guard modes.contains(where: { contains(source, forMode: $0) }) else { return }
        let message = WaitingMessages.Message(source: source, target: target, argument: argument)
        WaitingMessages.keep(message, number, in: self)
        source.signal()
    }

    private func checkThreadOfMessages() {
        require(
            isOnOwnThread,
            "This run loop belongs to another thread. Ask it for messages there, or use requestPerform."
        )
    }
}
