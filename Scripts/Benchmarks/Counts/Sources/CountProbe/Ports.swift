import Glibc
import UVRunLoop

extension Operation {
    static let ports = [
        Operation(
            "descriptor",
            "a byte through a watched pipe, write and read included",
            count: 500
        ) { loop in
            let pipe = Pipe()
            let countdown = Countdown(loop)
            let source = pipe.source { _ in
                pipe.readByte()
                countdown.countOne()
                if countdown.rest > 0 { pipe.writeByte() }
            }
            loop.add(source, forMode: .default)
            return { count, round in
                pipe.writeByte()
                round.loop { countdown.run(count) }
            }
        },
        Operation("port", "a message through a port of the same process", count: 1_000) { loop in
            let countdown = Countdown(loop)
            let port = UVRunLoop.Port(handler: { port, message in
                countdown.countOne()
                if countdown.rest > 0 { _ = port.send(message) }
            })
            loop.add(port, forMode: .default)
            return { count, round in
                _ = port.send(UVRunLoop.PortMessage(id: 1))
                round.loop { countdown.run(count) }
            }
        },
    ]
}

/// A pipe of the system's, for as long as the program runs.
struct Pipe {
    let descriptors: (reading: CInt, writing: CInt)

    init() {
        var pair: [CInt] = [-1, -1]
        guard pipe(&pair) == 0 else { fatalError("No pipe could be made.") }
        descriptors = (pair[0], pair[1])
    }

    func writeByte() {
        var byte: UInt8 = 1
        write(descriptors.writing, &byte, 1)
    }

    func readByte() {
        var byte: UInt8 = 0
        read(descriptors.reading, &byte, 1)
    }

    /// A source that tells when there is something to read.
    func source(
        _ handler: @escaping (UVRunLoop.DescriptorSource) -> Void
    ) -> UVRunLoop.DescriptorSource {
        do {
            return try UVRunLoop.DescriptorSource(
                descriptors.reading,
                events: .readable,
                handler: { source, _ in handler(source) }
            )
        } catch {
            fatalError("The pipe cannot be watched: \(error)")
        }
    }
}
