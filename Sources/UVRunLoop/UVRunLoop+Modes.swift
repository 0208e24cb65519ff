extension UVRunLoop {
    /// Makes a mode one of the common ones, for good.
    ///
    /// It gets every item that was added to ``Mode/common``; sources among them are told by their
    /// `schedule` handlers before this returns.
    ///
    /// From another thread it wakes the loop when a source joins.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter mode: The mode. One that is common already, and ``Mode/common`` itself, are
    ///   left alone.
    /// - Complexity: O(number of items in the loop).
    public func addCommonMode(_ mode: Mode) {
        guard mode != .common else { return }
        let joined = withEngine { $0.addCommonMode(mode) }
        for source in joined { source.schedule?(self, mode) }
        if !joined.isEmpty, !isOnOwnThread { wakeUp() }
        watchesDidChange()
    }

    /// The modes that something was added to or queued for, and the common ones; never
    /// ``Mode/common`` itself.
    ///
    /// > Threading: Any thread.
    public var modes: Set<Mode> {
        let names = withEngine { $0.modes.names } + blockModes.all
        return Set(names).subtracting([.common])
    }

    /// The date of a mode's soonest timer.
    ///
    /// A timer whose handler is running counts with the date that its ``Timer/nextFireDate`` shows.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter mode: The mode.
    /// - Returns: The date; `nil` when the mode has no timer, and for ``Mode/common``.
    public func nextFireDate(forMode mode: Mode) -> Instant? {
        withEngine { $0.soonestDate(in: mode) }.map { Instant(nanoseconds: $0) }
    }
}
