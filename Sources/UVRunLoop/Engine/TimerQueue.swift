/// When a sleep may end: not before `earliest`, and at the latest at `latest`.
///
/// Nanoseconds of the loop's clock.
struct Deadline: Equatable {
    var earliest: Int64
    var latest: Int64
}

/// The timers of one mode, soonest first.
///
/// Timers without tolerance are in one heap, by date. Those with tolerance are in two: by date, which says what is
/// due, and by the end of their windows, which says how long the loop may sleep. Whoever uses no tolerance pays
/// nothing for it.
struct TimerQueue {
    var places = Places()
    private var strict = OrderedHeap()
    private var tolerant = OrderedHeap()
    private var windows = OrderedHeap()
    /// The dates that belong to the batch being fired end here; see ``schedule(_:date:latest:serial:)``.
    private var floor = Int64.min

    /// Queues a timer that is not queued.
    ///
    /// One that joins while a batch is fired, with a date of that batch, is due with the next one: it is ranked
    /// behind the batch, so that the batch need not look past it.
    mutating func schedule(_ place: Place, date: Int64, latest: Int64, serial: UInt64) {
        let key = OrderedHeap.Key(rank: max(date, floor), serial: serial)
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
    }

    /// The soonest date of a queued timer.
    var soonest: Int64? { first?.key.rank }

    /// How long the timers let the loop sleep: until the first window closes.
    ///
    /// - Parameter opening: The date of the timer in a slot, which is when its window opens.
    /// - Returns: The window that closes first; `nil` when there are no timers.
    func deadline(opening: (UInt32) -> Int64) -> Deadline? {
        let date = strict.first?.key.rank
        guard let window = windows.first, window.key.rank < date ?? .max else {
            return date.map { Deadline(earliest: $0, latest: $0) }
        }
        return Deadline(earliest: opening(places[window.place]), latest: window.key.rank)
    }

    private var first: OrderedHeap.Entry? {
        guard let strict = strict.first else { return tolerant.first }
        guard let tolerant = tolerant.first else { return strict }
        return tolerant.key < strict.key ? tolerant : strict
    }

    // MARK: Batches

    /// What belongs to one round of firing: dates up to `now`, of timers scheduled before it began.
    struct Batch {
        var now: Int64
        var serial: UInt64
        fileprivate var outerFloor: Int64
    }

    mutating func beginBatch(now: Int64, serial: UInt64) -> Batch {
        let batch = Batch(now: now, serial: serial, outerFloor: floor)
        floor = max(floor, now)
        return batch
    }

    mutating func end(_ batch: Batch) { floor = batch.outerFloor }

    /// Takes the next due timer of the batch out of the queue.
    mutating func takeNext(of batch: Batch) -> UInt32? {
        guard let entry = first, entry.key.rank <= batch.now, entry.key.serial < batch.serial else {
            return nil
        }
        unschedule(entry.place)
        return places[entry.place]
    }
}
