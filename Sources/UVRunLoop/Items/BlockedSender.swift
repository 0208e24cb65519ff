/// A thread that waits for room in a port's queue.
final class BlockedSender: WaitingSender {
    private enum News {
        case ended(isSent: Bool)
        case check
    }

    private let news = ConditionGuarded<News?>(nil)

    var isTask: Bool { false }

    func endWait(isSent: Bool) { tell(.ended(isSent: isSent)) }

    func checkWait() { tell(.check) }

    private func tell(_ news: News) {
        self.news.withLock { current in
            if case .ended = current { return }
            current = news
        }
        self.news.wakeAll()
    }

    /// Waits for the end.
    ///
    /// - Parameter date: Until when, in nanoseconds of the monotonic clock.
    /// - Returns: Whether the message was queued; `nil` if the date has passed, or there may be
    ///   reason not to wait any longer.
    func wait(until date: Int64) -> Bool? {
        let found = news.wait(until: date) { news in
            switch news {
            case .ended: news
            case .check: exchange(&news, with: nil)
            case nil: nil
            }
        }
        guard case .ended(let isSent) = found else { return nil }
        return isSent
    }

    /// Waits for an end that is certain to come.
    func awaitEnd() -> Bool {
        while true {
            if let isSent = wait(until: .max) { return isSent }
        }
    }
}
