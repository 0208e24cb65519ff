import Glibc
import UVRunLoop

/// Owns one file descriptor and closes it exactly once.
///
/// A loop or an ``EventSet`` that watches the number has to let go of it first.
struct Descriptor: ~Copyable, Sendable {
    let number: CInt

    /// Takes over a descriptor that nobody else closes.
    init(owning number: CInt) {
        self.number = number
    }

    deinit {
        // Linux frees the number whatever `close` answers, so it is never repeated.
        Glibc.close(number)
    }

    /// Closes it here and now.
    consuming func close() {}
}
