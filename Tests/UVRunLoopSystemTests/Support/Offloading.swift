import TestSupport
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

/// Gives the pool more work than it has threads, which waits for a signal; its sources are in the
/// default mode.
func occupyPool(of loop: UVRunLoop, until gate: Signal) throws {
    for _ in 0..<16 {
        let offload = try UVRunLoop.Offload {
            gate.wait()
        } handler: { _, _ in
        }
        loop.add(offload, forMode: .default)
    }
}
