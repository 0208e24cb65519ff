import Synchronization

extension Call {
    /// The cost of one shared word on this machine: no call on one object that writes to memory can
    /// do better with several threads than these.
    static var floors: [Call] {
        [
            .reference("a word, counted up") { _ in
                let shared = SharedWord()
                return Workload { _, _ in shared.countUp() }
            },
            .reference("an object, retained and released") { _ in
                let box = ObjectBox()
                return Workload { _, _ in box.retainAndRelease() }
            },
            .reference("a Mutex, locked and unlocked") { _ in
                let shared = SharedWord()
                return Workload { _, _ in shared.countUpLocked() }
            },
        ]
    }
}

private final class SharedWord: Sendable {
    private let word = Atomic(0)
    private let locked = Mutex(0)

    @inline(never)
    func countUp() { word.add(1, ordering: .relaxed) }

    @inline(never)
    func countUpLocked() { locked.withLock { $0 += 1 } }
}

private final class ObjectBox: Sendable {
    private let object = SharedWord()

    // Two functions, because one compiles to nothing.

    func retainAndRelease() { release(retain()) }

    @inline(never)
    private func retain() -> Unmanaged<SharedWord> { Unmanaged.passRetained(object) }

    @inline(never)
    private func release(_ reference: Unmanaged<SharedWord>) { reference.release() }
}
