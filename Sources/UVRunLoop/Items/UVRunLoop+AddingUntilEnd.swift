extension UVRunLoop {
    /// Adds a source; if the loop has ended, which adds nothing, the source becomes invalid.
    package func addUntilEnd(_ source: some PortSource, forMode mode: Mode = .common) {
        add(source, forMode: mode)
        if hasEnded { Self.invalidate(source) }
    }

    /// Adds a timer to the common modes; returns `false` if the loop has ended.
    func addUntilEnd(_ timer: Timer) -> Bool {
        add(timer, forMode: .common)
        return !hasEnded
    }
}
