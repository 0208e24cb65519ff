import UVRunLoop

extension ClockState {
    /// Describes what the loops wait for, when nothing happens any more.
    var sentence: String {
        (["A virtual clock's loops wait, and nothing happens: \(clockSentence)."]
            + loops.map(\.sentence)).joined(separator: "\n")
    }

    private var clockSentence: String {
        let time = "the clock is \(Seconds(now - Self.start)) after its start"
        if !holds.isEmpty {
            let places = holds.sorted { $0.key < $1.key }.map(\.value)
            return "\(time) and is held in \(places.joined(separator: ", "))"
        }
        if isPlanUnderWay { return "\(time), and a planned action has not returned" }
        return loops.allSatisfy(\.isAsleep)
            ? "\(time), and nobody has a date" : "\(time) and waits for a loop that is not asleep"
    }
}

extension VirtualLoop {
    fileprivate var sentence: String {
        let title =
            label.map { "The loop of the thread \"\($0)\"" } ?? "Loop \(number) of the clock"
        guard case .asleep(let date) = phase else {
            return "\(title) is not asleep: a handler runs, or nobody runs the loop."
        }
        let dates = date.map { "until \(Seconds($0 - ClockState.start))" } ?? "without a date"
        let watched = present.map { "\($0.descriptor) to be \(($0.events ?? []).name)" }
        guard !watched.isEmpty else {
            return "\(title) sleeps \(dates), and watches no descriptor."
        }
        return
            "\(title) sleeps \(dates), and waits for descriptor \(watched.joined(separator: ", "))."
    }
}

extension UVRunLoop.DescriptorEvents {
    fileprivate var name: String {
        switch (contains(.readable), contains(.writable)) {
        case (true, false): "readable"
        case (false, true): "writable"
        case (true, true): "readable or writable"
        case (false, false): "closed by the peer"
        }
    }
}
