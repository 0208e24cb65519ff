import CUV
internal import CUVSupport

/// A loop's epoll set and the descriptors it has taken, each of which is given back exactly once.
struct WatchedDescriptors {
    /// Negative once closed.
    var epoll: CInt = -1
    /// The descriptors that were taken or made non-blocking, and whether the kernel watches them at
    /// present.
    private var isWatched: [CInt: Bool] = [:]
    /// Released descriptors that libuv still has a `uv_poll` for.
    private var released: Set<CInt> = []
    /// Descriptors that were closed while the kernel watched them.
    ///
    /// Each number is free, or belongs to another file, and ``holdsStaleRegistration(of:)`` may be
    /// true.
    private var suspects: [CInt] = []

    mutating func take(_ descriptor: CInt) throws(UVError) {
        try makeNonblocking(descriptor)
        released.remove(descriptor)
    }

    /// Makes a descriptor non-blocking until it is released; ``take(_:)`` may follow.
    mutating func makeNonblocking(_ descriptor: CInt) throws(UVError) {
        guard isWatched[descriptor] == nil else { return }
        try BlockingFlags.take(descriptor)
        isWatched[descriptor] = false
    }

    /// Whether the loop has taken a descriptor, and no thread has released it since.
    func isTaken(_ descriptor: CInt) -> Bool {
        isWatched[descriptor] != nil && !released.contains(descriptor)
    }

    /// Gives a descriptor back, if it was taken or made non-blocking.
    mutating func release(_ descriptor: CInt) {
        guard let wasWatched = isWatched.removeValue(forKey: descriptor) else { return }
        released.insert(descriptor)
        // One that is not watched may be in the set for a foreign handle.
        let wasFound = wasWatched ? delete(descriptor) : nil
        BlockingFlags.giveBack(descriptor, isSameFile: wasFound)
    }

    /// Removes a descriptor from the epoll set; returns whether it was there.
    private mutating func delete(_ descriptor: CInt) -> Bool {
        let wasFound = cuv_epoll_delete(epoll, descriptor) == 0
        if !wasFound { suspects.append(descriptor) }
        return wasFound
    }

    mutating func takeSuspects() -> [CInt] { suspects.isEmpty ? [] : exchange(&suspects, with: []) }

    /// Whether the set holds a registration of a number besides that of a descriptor taken since.
    func holdsStaleRegistration(of descriptor: CInt) -> Bool {
        let watched: CInt = isWatched[descriptor] == true ? 1 : 0
        return epoll >= 0 && cuv_epoll_members(epoll, descriptor) > watched
    }

    /// Removes a descriptor from the epoll set, because errors and hang-ups cannot be masked.
    mutating func pause(_ descriptor: CInt) {
        guard isWatched[descriptor] == true else { return }
        _ = delete(descriptor)
        isWatched[descriptor] = false
    }

    /// Sets the events that the kernel reports of a descriptor that was taken.
    ///
    /// One system call, unless a foreign handle has added the descriptor already, or its owner has
    /// closed it while the kernel watched it, and the number belongs to another file.
    mutating func arm(_ descriptor: CInt, _ events: UInt32) throws(UVError) {
        if isWatched[descriptor] == true {
            let status = cuv_epoll_modify(epoll, descriptor, events)
            let isGone = status == UV_ENOENT.rawValue
            try accepted(isGone ? cuv_epoll_add(epoll, descriptor, events) : status)
            if isGone {
                suspects.append(descriptor)
                try BlockingFlags.renew(descriptor, isAnother: true)
            }
        } else {
            let status = cuv_epoll_add(epoll, descriptor, events)
            let isThere = status == UV_EEXIST.rawValue
            try accepted(isThere ? cuv_epoll_modify(epoll, descriptor, events) : status)
            if isWatched[descriptor] != nil { isWatched[descriptor] = true }
        }
    }

    mutating func takeReleased() -> Set<CInt> { exchange(&released, with: []) }

    mutating func releaseAll() {
        // The epoll set is closed next, with all its remaining registrations.
        for descriptor in isWatched.keys { release(descriptor) }
        suspects = []
        epoll = -1
    }
}
