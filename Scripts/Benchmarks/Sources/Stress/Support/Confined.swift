import Glibc

/// Something that one thread alone may use, on its way there through others.
///
/// Unchecked, because every use is checked: a handler that runs on another thread than its loop's
/// is a failure.
struct Confined<Value>: @unchecked Sendable {
    private let content: Value
    private let home = pthread_self()

    init(_ content: Value) { self.content = content }

    var value: Value {
        demand(
            pthread_equal(home, pthread_self()) != 0,
            "a handler of a loop to run on the loop's thread",
            "one on another thread"
        )
        return content
    }
}
