// Items print as one line: their kind, their label, and what they wait for. The debug description
// has their address, too.

extension UVRunLoop.Timer: CustomStringConvertible, CustomDebugStringConvertible {
    /// The timer in one line: its label, next date and interval.
    ///
    /// > Threading: Any thread.
    public var description: String { line.text }

    /// The ``description`` with the timer's address.
    ///
    /// > Threading: Any thread.
    public var debugDescription: String { line.text(with: self) }

    private var line: ObjectLine {
        // The lock of a parent's loop may never be released in this process.
        guard owner.location.isInThisProcess else {
            let fact = "in a loop of the process that forked this one"
            return ObjectLine(kind: "Timer", label: label, facts: [fact])
        }
        let now = loop?.time ?? UVRunLoop.currentInstant.nanoseconds
        return line(isBeingCalled: owner.withLock { core.isBeingCalled }, now: now)
    }

    func line(isBeingCalled: Bool, now: Int64) -> ObjectLine {
        guard isValid else { return ObjectLine(kind: "Timer", label: label, facts: ["invalid"]) }
        var line = ObjectLine(kind: "Timer", label: label)
        if isBeingCalled { line.facts.append("firing") }
        line.facts.append(Self.words(for: date, now: now))
        if let period { line.facts.append("every \(Duration.nanoseconds(period).words)") }
        if slack > 0 { line.facts.append("tolerance \(Duration.nanoseconds(slack).words)") }
        if missedFires > 0 { line.facts.append("missed \(missedFires)") }
        return line
    }

    private static func words(for date: Int64, now: Int64) -> String {
        let distance = Duration.nanoseconds(date) - .nanoseconds(now)
        return distance > .zero ? "in \(distance.words)" : "due \((.zero - distance).words) ago"
    }
}

extension UVRunLoop.Source: CustomStringConvertible, CustomDebugStringConvertible {
    /// The source in one line: its label, and whether it is signalled.
    ///
    /// > Threading: Any thread.
    public var description: String { line.text }

    /// The ``description`` with the source's address.
    ///
    /// > Threading: Any thread.
    public var debugDescription: String { line.text(with: self) }

    private var line: ObjectLine {
        var line = ObjectLine(kind: "Source", label: label)
        if !isValid { line.facts.append("invalid") }
        if isSignalled { line.facts.append("signalled") }
        if order != 0 { line.facts.append("order \(order)") }
        return line
    }
}

extension UVRunLoop.Observer: CustomStringConvertible, CustomDebugStringConvertible {
    /// The observer in one line: its label and activities.
    ///
    /// > Threading: Any thread.
    public var description: String { line.text }

    /// The ``description`` with the observer's address.
    ///
    /// > Threading: Any thread.
    public var debugDescription: String { line.text(with: self) }

    private var line: ObjectLine {
        var line = ObjectLine(kind: "Observer", label: label)
        if !isValid { line.facts.append("invalid") }
        line.facts.append("\(activities)")
        if !repeats { line.facts.append("once") }
        if order != 0 { line.facts.append("order \(order)") }
        return line
    }
}

extension UVRunLoop.PortLink {
    /// The line of the source that has this link.
    func line(of source: any AnyObject & Sendable) -> ObjectLine {
        var line = ObjectLine(kind: Self.kind(type(of: source)), label: labelBox.text)
        if !isValid { line.facts.append("invalid") }
        if isBeingCalled { line.facts.append("being served") }
        if let descriptor {
            line.facts += ["descriptor \(descriptor)", "\(events)"]
        }
        if order != 0 { line.facts.append("order \(order)") }
        if let fact = receiver.fact { line.facts.append(fact) }
        return line
    }

    /// The name of a class without its module, such as `MessagePort.Local`.
    static func kind(_ type: any AnyObject.Type) -> String {
        // For example `(extension in UVRunLoopPorts):UVRunLoop.UVRunLoop.MessagePort.Local`.
        let name = String(reflecting: type).prefix { $0 != "<" }
        let parts = name.split(separator: ".")
        let library = parts.lastIndex { $0.hasSuffix("UVRunLoop") }
        return parts.dropFirst(library.map { $0 + 1 } ?? 0).joined(separator: ".")
    }
}

extension UVRunLoop.PortSource {
    /// The source in one line: its kind, its label, its descriptor, if it has one, with the events
    /// to watch for, and what a source of its kind is made for, such as the number of a signal.
    ///
    /// > Threading: Any thread.
    public var description: String { link.line(of: self).text }

    /// The ``description`` with the source's address.
    ///
    /// > Threading: Any thread.
    public var debugDescription: String { link.line(of: self).text(with: self) }
}
