import Glibc
import UVRunLoop

/// Owns one file descriptor and closes it exactly once.
///
/// A loop or an ``EventSet`` that watches the descriptor must stop watching it first.
struct Descriptor: ~Copyable, Sendable {
    let number: CInt

    /// Takes ownership of a descriptor.
    init(owning number: CInt) {
        self.number = number
    }

    deinit {
        // Linux frees the number even if `close` fails, so it must not be retried.
        Glibc.close(number)
    }

    /// Closes the descriptor now.
    consuming func close() {}
}
