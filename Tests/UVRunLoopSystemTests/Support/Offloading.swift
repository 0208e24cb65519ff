import UVRunLoop
import UVRunLoopSystem

/// Has the thread's loop run until an offload has called its handler.
func useLoopOnce() {
    let offload = try? UVRunLoop.Offload {
        1
    } handler: { _, _ in
    }
    guard let offload else { return }
    UVRunLoop.current.add(offload, forMode: .default)
    UVRunLoop.current.run(mode: .default, for: .seconds(60))
}
