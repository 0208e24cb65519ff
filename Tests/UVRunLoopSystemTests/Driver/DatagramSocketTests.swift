import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopPorts

@testable import UVRunLoopSystem

/// A socket that the kernel refuses to watch after it was opened.
@Suite(.timeLimit(.minutes(15))) struct DatagramSocketTests {
    private typealias DatagramPort = UVRunLoop.DatagramPort

    @Test(.enabled(if: hasMemory(for: 1 << 32), "The machine refuses 4 GiB that nobody touches."))
    func aDatagramThatIsLongerThanLibuvsBuffersIsNotSent() throws {
        try withLoop { loop in
            let port = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
                guard case .sendFailed(let error, _) = event else { return }
                #expect(error.code == .messageTooLong)
                loop.stop()
            }
            loop.add(port, forMode: .default)
            // Memory that nobody touches.
            let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 32) { $1 = 1 << 32 }
            try port.send(bytes, to: .ipv4Loopback(port: 9))
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
        }
    }

    @Test func aRefusedSocketEndsItsPortAfterTheEventsThatWait() throws {
        try withLoop { loop in
            let told = Box<[DatagramPort.Event]>([])
            let port = try DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
                told.value.append(event)
            }
            loop.add(port, forMode: .default)
            port.socket.fail(.receive, .invalidArgument)
            #expect(port.isValid)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(told.value == [.failed(UVRunLoop.SystemError(.receive, .invalidArgument))])
            #expect(!port.isValid)
        }
    }

    @Test func aTaskGetsTheFailureAndTheEnd() async throws {
        try await UVRunLoop.withThread { loop in
            let port = try await loop.datagramPort(boundTo: .ipv4Loopback(port: 0))
            loop.perform { port.socket.fail(.receive, .invalidArgument) }
            var told: [DatagramPort.Event] = []
            for await event in port.events { told.append(event) }
            #expect(told == [.failed(UVRunLoop.SystemError(.receive, .invalidArgument))])
            #expect(!port.isValid)
        }
    }

    /// With the first datagram of a process, libuv 1.44 opens a socket and closes it again.
    @Test func aDatagramNeedsNoStandardDescriptor() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                withLoop { loop in
                    closeStandardDescriptors()
                    let received = Box<[UInt8]>([])
                    let port = try? DatagramPort(boundTo: .ipv4Loopback(port: 0)) { _, event in
                        if case .received(let all) = event { received.value = all.flatMap(\.bytes) }
                        loop.stop()
                    }
                    guard let port else { preconditionFailure("The port cannot be opened.") }
                    loop.add(port, forMode: .default)
                    try? port.send([7], to: port.localAddress)
                    loop.run(mode: .default, for: .seconds(60))
                    precondition(received.value == [7])
                }
            }
        }
    }
}
