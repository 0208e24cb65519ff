import Synchronization

/// A number that is set under a lock and read without it.
struct SharedNumber: ~Copyable, Sendable {
    private let word: Atomic<Int64>

    @inline(__always)
    init(_ value: Int64) { word = Atomic(value) }

    var value: Int64 {
        @inline(__always) get { word.load(ordering: .relaxed) }
        @inline(__always) nonmutating set { word.store(newValue, ordering: .relaxed) }
    }
}
