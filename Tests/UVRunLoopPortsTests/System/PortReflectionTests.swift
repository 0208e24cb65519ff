import Testing
import UVRunLoop

@testable import UVRunLoopPorts

/// Printing and dumping ports, as a failed expectation does.
@Suite(.timeLimit(.minutes(15))) struct PortReflectionTests {
    @Test func portsArePrintedInOneLineAndHaveNoChildren() throws {
        try withLoop { loop in
            let place = Place()
            let listener = try SocketPort(listeningAt: .ipv4Loopback(port: 0)) { _, _ in }
            listener.label = "the \"clients\"\nof today"
            let local = try place.local { _, _ in nil }
            let remote = try place.remote()
            #expect(listener.description.hasPrefix(#"SocketPort "the \"clients\"\nof today": "#))
            #expect(local.description.hasPrefix("MessagePort.Local"))
            #expect(remote.description.hasPrefix("MessagePort.Remote"))
            let group = UVRunLoop.ConnectionGroup(on: loop, mode: .default)
            for object in [listener, local, remote, group] as [any AnyObject] {
                var text = ""
                dump(object, to: &text)
                #expect(text.hasPrefix("- ") && text.count { $0 == "\n" } == 1)
            }
            for port in [listener, local, remote] as [any UVRunLoop.PortSource] {
                #expect(port.debugDescription.contains(" 0x"))
                #expect(!port.debugDescription.contains("\n"))
            }
            listener.invalidate()
            local.invalidate()
            remote.invalidate()
        }
    }
}
