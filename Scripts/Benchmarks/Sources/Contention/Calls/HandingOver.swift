import CFSupport
import CoreFoundation
import UVRunLoop
import UVRunLoopFoundation

extension Call {
    /// The calls that hand work to a loop that runs, or wake it.
    static var handingOver: [Call] {
        [
            handing("perform(_:)") { loop in { _, _ in loop.perform {} } },
            cfHanding("perform(_:)") { served in
                { _, _ in served.perform {} }
            },
            handing("perform(inModes:), mode named anew") { loop in
                { _, _ in
                    let mode = UVRunLoop.Mode(rawValue: "kCFRunLoopDefaultMode")
                    loop.perform(inModes: [mode]) {}
                }
            },
            cfHanding("perform(inModes:), mode named anew") { served in
                { _, _ in
                    let mode = CF.mode(named: "kCFRunLoopDefaultMode")
                    CFRunLoopPerformBlock(served.loop, mode) {}
                    CFRunLoopWakeUp(served.loop)
                }
            },
            handing("requestPerform") { loop in { _, _ in loop.requestPerform {} } },
            handing("wakeUp()") { loop in { _, _ in loop.wakeUp() } },
            cfHanding("wakeUp()") { served in
                { _, _ in CFRunLoopWakeUp(served.loop) }
            },
        ] + signals + [ownMessages]
    }

    private static var signals: [Call] {
        [
            handing("signal(), one source") { loop in
                let source = UVRunLoop.Source(sendablePerform: { _ in })
                loop.add(source, forMode: .default)
                return { _, _ in source.signal() }
            },
            cfHanding("signal(), one source") { served in
                let source = CF.source()
                CFRunLoopAddSource(served.loop, source, CF.defaultMode)
                return { _, _ in CFRunLoopSourceSignal(source) }
            },
            handing("signal() and wakeUp(), one source") { loop in
                let source = UVRunLoop.Source(sendablePerform: { _ in })
                loop.add(source, forMode: .default)
                return { _, _ in
                    source.signal()
                    loop.wakeUp()
                }
            },
            cfHanding("signal() and wakeUp(), one source") { served in
                let source = CF.source()
                CFRunLoopAddSource(served.loop, source, CF.defaultMode)
                return { _, _ in
                    CFRunLoopSourceSignal(source)
                    CFRunLoopWakeUp(served.loop)
                }
            },
            Call("signal(), own sources, one loop") { threads in
                let served = ServedLoop()
                let sources = (0..<threads).map { _ in
                    UVRunLoop.Source(sendablePerform: { _ in })
                }
                for source in sources { served.loop.add(source, forMode: .default) }
                return Workload(
                    call: { thread, _ in sources[thread].signal() },
                    cleanUp: served.end
                )
            },
        ]
    }

    /// Messages of threads to their own loops, sent and taken back.
    private static var ownMessages: Call {
        Call("perform(_:target:…) and cancelPerform, own loops") { threads in
            let targets = (0..<threads).map { _ in Target() }
            return Workload { thread, _ in
                let (loop, target) = (UVRunLoop.current, targets[thread])
                loop.perform(Target.act, target: target, order: 0, modes: [.default])
                loop.cancelPerformSelectors(withTarget: target)
            }
        }
    }

    private final class Target: Sendable {
        func act() {}
    }

    /// A call on one loop, which has done what was handed to it when the measurement ends.
    private static func handing(
        _ name: String,
        _ call: @escaping @Sendable (UVRunLoop) -> @Sendable (Int, Int) -> Void
    ) -> Call {
        Call(name) { _ in
            let served = ServedLoop()
            return Workload(call: call(served.loop), finish: served.drain, cleanUp: served.end)
        }
    }

    private static func cfHanding(
        _ name: String,
        _ call: @escaping @Sendable (ServedCFLoop) -> @Sendable (Int, Int) -> Void
    ) -> Call {
        .peer(name) { _ in
            let served = ServedCFLoop()
            return Workload(call: call(served), finish: served.drain, cleanUp: served.end)
        }
    }
}
