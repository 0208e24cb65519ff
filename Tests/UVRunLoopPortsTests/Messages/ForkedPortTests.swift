import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// A process that forks: each test runs in a process of its own, so that little else goes on in it.
@Suite(.timeLimit(.minutes(5))) struct ForkedPortTests {
    @Test func aForkedChildHasNoneOfItsParentsPorts() async {
        await #expect(processExitsWith: .success) { forkAndLookForPorts() }
    }
}

private func forkAndLookForPorts() {
    do {
        try lookForPortsInAChild()
    } catch {
        fatalError("\(error)")
    }
}

private func lookForPortsInAChild() throws {
    let place = Place()
    let server = try PortServer(place) { _, message in message.data }
    let mine = try place.local("mine") { _, _ in nil }
    var remote: Remote? = try place.remote()
    _ = try remote?.request([1])
    let child = fork()
    if child == 0 {
        let isTaken = (try? place.local("mine") { _, _ in nil }) == nil
        let own = try place.remote()
        let isOwn = own !== remote
        // Letting the parent's port go must not end the parent's connection.
        remote = nil
        _exit(isTaken && isOwn ? 0 : 1)
    }
    var status: CInt = -1
    waitpid(child, &status, 0)
    let isAlive = mine.isValid
    let reply = try remote?.request([2])
    server.stop()
    // No `exit` here, which would leave the place behind.
    precondition(status == 0 && isAlive && reply == [2], "The two share a port.")
}
