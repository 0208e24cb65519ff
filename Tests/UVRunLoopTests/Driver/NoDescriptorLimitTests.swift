import Glibc
import Testing

@testable import UVRunLoop

/// A process that has opened all it needs, and then permits itself no descriptor: `poll` fails in it.
@Suite(.timeLimit(.minutes(15))) struct NoDescriptorLimitTests {
    @Test func aPeerThatStillReceivesHasNotHungUp() async {
        await #expect(processExitsWith: .success) { inQuietProcess { readWithALimitOfNothing() } }
    }

    @Test func anErrorIsAHangUp() async {
        await #expect(processExitsWith: .success) { inQuietProcess { failWithALimitOfNothing() } }
    }
}

/// Serves a socket whose peer sends nothing more, but still receives.
private func readWithALimitOfNothing() {
    let loop = UVRunLoop.current
    let (ours, theirs) = socketPair()
    let log = Box<[UVRunLoop.DescriptorEvents]>([])
    guard
        let source = try? UVRunLoop.DescriptorSource(
            ours,
            events: .readable,
            handler: { _, events in log.value.append(events) }
        )
    else { preconditionFailure("No source.") }
    loop.add(source, forMode: .default)
    loop.run(mode: .default, for: .zero)
    shutdown(theirs, CInt(SHUT_WR))
    permitNoDescriptors()
    for _ in 1...2 { loop.run(mode: .default, for: .zero) }
    precondition(log.value == [.readable, .readable], "\(log.value)")
}

/// Serves a socket that nobody receives from, which the kernel tells after the first datagram.
private func failWithALimitOfNothing() {
    let loop = UVRunLoop.current
    let kind = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
    let datagrams = socket(AF_INET, kind, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(9).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(datagrams, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    precondition(status == 0)
    let log = Box<[UVRunLoop.DescriptorEvents]>([])
    guard
        let source = try? UVRunLoop.DescriptorSource(
            datagrams,
            events: .readable,
            handler: { _, events in log.value.append(events) }
        )
    else { preconditionFailure("No source.") }
    loop.add(source, forMode: .default)
    loop.run(mode: .default, for: .zero)
    permitNoDescriptors()
    _ = send(datagrams, "x", 1, 0)
    for _ in 1...3 { loop.run(mode: .default, for: .milliseconds(1)) }
    precondition(log.value == [[.readable, .hangUp]], "\(log.value)")
}

private func permitNoDescriptors() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = 0
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
