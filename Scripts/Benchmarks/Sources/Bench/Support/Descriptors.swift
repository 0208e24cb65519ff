import BenchSupport
import Glibc
import RawUV

/// Descriptors that a job opens, and closes at its end.
final class EventDescriptors: Sendable {
    let all: [CInt]

    init(_ count: Int) {
        all = (0..<count).map { _ in
            let descriptor = raw_event_descriptor()
            guard descriptor >= 0 else { fail("no descriptor is left.") }
            return descriptor
        }
    }

    deinit { for descriptor in all { Glibc.close(descriptor) } }
}

/// Both ends of a pipe, for one byte at a time.
final class Pipe: Sendable {
    let readEnd: CInt
    let writeEnd: CInt

    init() {
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { fail("no pipe can be opened.") }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        Glibc.close(readEnd)
        Glibc.close(writeEnd)
    }
}

/// Writes a byte to a pipe.
func writeByte(to descriptor: CInt) {
    var byte: UInt8 = 1
    guard write(descriptor, &byte, 1) == 1 else { fail("a byte could not be written.") }
}

/// Reads a byte from a pipe.
func readByte(from descriptor: CInt) {
    var byte: UInt8 = 0
    guard read(descriptor, &byte, 1) == 1 else { fail("a byte could not be read.") }
}

/// Makes an eventfd readable.
func notify(_ descriptor: CInt) {
    var value: UInt64 = 1
    guard write(descriptor, &value, 8) == 8 else { fail("an eventfd could not be written.") }
}

/// Makes an eventfd unreadable again.
func forget(_ descriptor: CInt) {
    var value: UInt64 = 0
    guard read(descriptor, &value, 8) == 8 else { fail("an eventfd could not be read.") }
}
