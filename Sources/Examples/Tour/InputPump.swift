import Glibc
import Synchronization

/// Copies the text into the pipe, on a thread that has no run loop.
///
/// A regular file is always "readable", so a loop cannot wait for one. It can wait for a pipe, and
/// this thread may block in `read` and `write`.
final class InputPump: Sendable {
    private let input: Input
    private let pipe: CInt
    private let firstFailure = Mutex<CInt>(0)

    init(from input: Input, to pipe: CInt) {
        self.input = input
        self.pipe = pipe
    }

    /// The error number that ended the text early, or 0.
    var failure: CInt { firstFailure.withLock { $0 } }

    /// Copies until the text ends, then closes the pipe, which the worker sees as the end of its
    /// input.
    func run() {
        let failure = pumpAll()
        firstFailure.withLock { $0 = failure }
        close(pipe)
    }

    private func pumpAll() -> CInt {
        let size = input.pace?.bytesPerPiece ?? 65_536
        var buffer = [UInt8](repeating: 0, count: size)
        while true {
            switch read(from: input.descriptor, into: &buffer) {
            case .bytes(let count):
                let failure = write(buffer[..<count], to: pipe)
                guard failure == 0 else { return failure }
                if let pace = input.pace { rest(pace.pause) }
            case .nothingYet:
                wait(for: POLLIN, on: input.descriptor)
            case .end:
                return 0
            case .failed(let code):
                return code
            }
        }
    }

    private func rest(_ pause: Duration) { usleep(useconds_t(pause / .microseconds(1))) }
}
