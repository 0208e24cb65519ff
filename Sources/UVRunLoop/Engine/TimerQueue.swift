/// When a sleep may end: not before `earliest`, and at the latest at `latest`.
///
/// Nanoseconds of the loop's clock.
struct Deadline: Equatable {
    var earliest: Int64
    var latest: Int64
}

/// The timers of one mode, soonest first.
///
/// Timers without tolerance are in one heap, by date. Those with tolerance are in two: by date,
/// which says what is due, and by the end of their windows, which says how long the loop may
/// sleep. Whoever uses no tolerance pays nothing for it.
struct TimerQueue {
    var places = Places()
    private var strict = OrderedHeap()
    private var tolerant = OrderedHeap()
    private var windows = OrderedHeap()
    /// Timers that are due but came too late for the batch that is being fired.
    private var latecomers = OrderedHeap()

    /// Queues a timer, or moves it where it belongs now.
    mutating func schedule(_ place: Place, date: Int64, latest: Int64, serial: UInt64) {
        unschedule(place)
        let key = OrderedHeap.Key(rank: date, serial: serial)
        if latest > date {
            tolerant.insert(place, key)
            windows.insert(place, OrderedHeap.Key(rank: latest, serial: serial))
        } else {
            strict.insert(place, key)
        }
    }

    mutating func unschedule(_ place: Place) {
        strict.remove(place)
        tolerant.remove(place)
        windows.remove(place)
        latecomers.remove(place)
    }

    /// The soonest date of a queued timer.
    var soonest: Int64? {
        let soonest = min(strict.soonest, tolerant.soonest, latecomers.soonest)
        return isEmpty ? nil : soonest
    }

    /// How long the timers let the loop sleep: until the first window closes.
    ///
    /// - Parameter opening: The date of the timer in a slot, which is when its window opens.
    /// - Returns: The window that closes first; `nil` when there are no timers.
    func deadline(opening: (UInt32) -> Int64) -> Deadline? {
        let date = min(strict.soonest, latecomers.soonest)
        if let window = windows.first, window.key.rank < date {
            return Deadline(earliest: opening(places[window.place]), latest: window.key.rank)
        }
        let hasDate = !strict.isEmpty || !latecomers.isEmpty
        return hasDate ? Deadline(earliest: date, latest: date) : nil
    }

    private var isEmpty: Bool { strict.isEmpty && tolerant.isEmpty && latecomers.isEmpty }

    // MARK: Batches

    /// What belongs to one round of firing: dates up to `now`, of timers scheduled before it began.
    struct Batch {
        var now: Int64
        var serial: UInt64
    }

    mutating func beginBatch(now: Int64, serial: UInt64) -> Batch {
        // A nested round has none of its own yet: what was too late for the outer one is in time
        // for this.
        admitLatecomers()
        return Batch(now: now, serial: serial)
    }

    mutating func endBatch() { admitLatecomers() }

    private mutating func admitLatecomers() {
        while let entry = latecomers.first {
            latecomers.remove(entry.place)
            if windows.contains(entry.place) {
                tolerant.insert(entry.place, entry.key)
            } else {
                strict.insert(entry.place, entry.key)
            }
        }
    }

    /// Takes the next due timer of the batch out of the queue.
    mutating func takeNext(of batch: Batch) -> UInt32? {
        while let entry = firstByDate, entry.key.rank <= batch.now {
            if entry.key.serial < batch.serial {
                unschedule(entry.place)
                return places[entry.place]
            }
            strict.remove(entry.place)
            tolerant.remove(entry.place)
            latecomers.insert(entry.place, entry.key)
        }
        return nil
    }

    private var firstByDate: OrderedHeap.Entry? {
        guard let strict = strict.first else { return tolerant.first }
        guard let tolerant = tolerant.first else { return strict }
        return tolerant.key < strict.key ? tolerant : strict
    }
}

extension OrderedHeap {
    /// The first date, or the end of time when there is none.
    fileprivate var soonest: Int64 { first?.key.rank ?? .max }
}
