import Glibc
import UVRunLoop
// Stands in until UVRunLoop.SignalSource is there: then delete this file.
nonisolated(unsafe) var pipes = [CInt](repeating: 0, count: 64)
extension UVRunLoop {
    final class SignalSource: @unchecked Sendable {
        let source: DescriptorSource
        init(_ n: CInt, handler: @escaping (SignalSource, Int) -> Void) throws {
            var p: [CInt] = [0, 0]
            pipe(&p)
            let fd = p[0]
            pipes[Int(n)] = p[1]
            Glibc.signal(n) { k in
                var c: UInt8 = 0; write(pipes[Int(k)], &c, 1)
            }
            nonisolated(unsafe) var me: SignalSource?
            source = try DescriptorSource(
                fd,
                events: .readable,
                handler: { _, _ in
                    var b = [UInt8](repeating: 0, count: 128)
                    _ = read(fd, &b, 128)
                    if let me { handler(me, 1) }
                }
            )
            me = self
        }
    }
    func add(_ s: SignalSource, forMode m: Mode) { add(s.source, forMode: m) }
}
