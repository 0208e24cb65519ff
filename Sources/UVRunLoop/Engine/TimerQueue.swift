/// When a sleep may end: not before `earliest`, and at the latest at `latest`.
///
/// Nanoseconds of the loop's clock.
struct Deadline: Equatable {
    var earliest: Int64
    var latest: Int64
}

/// What a queue of timers asks of its members.
protocol TimerQueueMember {
    /// The next date to fire on.
    var date: Int64 { get }
    /// When it was scheduled last, which settles the order among equal dates.
    var serial: UInt64 { get }
}

/// The timers of one mode, soonest first.
///
/// Timers without tolerance are in one heap, by date. Those with tolerance are in two: by date,
/// which says what is due, and by the end of their windows, which says how long the loop may
/// sleep. Whoever uses no tolerance pays nothing for it.
struct TimerQueue<Member: TimerQueueMember> {
    var places = Places<Member>()
    private var strict = OrderedHeap()
    private var tolerant = OrderedHeap()
    private var windows = OrderedHeap()
    /// Timers that are due but came too late for the batch that is being fired.
    private var latecomers = OrderedHeap()

    /// Queues a timer.
    ///
    /// - Precondition: It is not queued.
    mutating func schedule(_ place: Place, date: Int64, latest: Int64) {
        if latest > date {
            tolerant.insert(place, rank: date, places)
            windows.insert(place, rank: latest, places)
        } else {
            strict.insert(place, rank: date, places)
        }
    }

    mutating func unschedule(_ place: Place) {
        strict.remove(place, places)
        if !windows.isEmpty {
            tolerant.remove(place, places)
            windows.remove(place, places)
        }
        if !latecomers.isEmpty { latecomers.remove(place, places) }
    }

    /// The soonest date of a queued timer.
    var soonest: Int64? {
        let soonest = min(strict.soonest, tolerant.soonest, latecomers.soonest)
        return isEmpty ? nil : soonest
    }

    /// How long the timers let the loop sleep: until the first window closes.
    var deadline: Deadline? {
        let date = min(strict.soonest, latecomers.soonest)
        if let window = windows.first, window.rank < date {
            // The window opens at the date.
            return Deadline(earliest: places[window.place]?.date ?? .min, latest: window.rank)
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
            latecomers.remove(entry.place, places)
            if windows.contains(entry.place) {
                tolerant.insert(entry.place, rank: entry.rank, places)
            } else {
                strict.insert(entry.place, rank: entry.rank, places)
            }
        }
    }

    /// Takes the next due timer of the batch out of the queue.
    mutating func takeNext(of batch: Batch) -> Member? {
        while let entry = firstByDate, entry.rank <= batch.now {
            guard let member = places[entry.place] else { return nil }
            if member.serial < batch.serial {
                unschedule(entry.place)
                return member
            }
            strict.remove(entry.place, places)
            tolerant.remove(entry.place, places)
            latecomers.insert(entry.place, rank: entry.rank, places)
        }
        return nil
    }

    private var firstByDate: OrderedHeap.Entry? {
        guard let strict = strict.first else { return tolerant.first }
        guard let tolerant = tolerant.first else { return strict }
        if strict.rank != tolerant.rank { return strict.rank < tolerant.rank ? strict : tolerant }
        return places.isBefore(tolerant.place, strict.place) ? tolerant : strict
    }
}

extension OrderedHeap {
    /// The first date, or the end of time when there is none.
    fileprivate var soonest: Int64 { first?.rank ?? .max }
}

extension Places: Turns where Owner: TimerQueueMember {
    func isBefore(_ one: Place, _ other: Place) -> Bool {
        guard let one = self[one], let other = self[other] else { return false }
        return one.serial < other.serial
    }
}
