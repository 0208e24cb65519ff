import CFSupport
import CoreFoundation
import Foundation
import RawUV
import UVRunLoop

extension Job {
    /// One non-blocking pass with one idle source in the mode, and with an observer beside it.
    static func pass(_ effort: Effort) -> Job {
        let count = effort.choose(50_000, quick: 10_000)
        return Job(
            rows: [
                Row(name: "pass", title: "Pass with nothing to do"),
                Row(name: "pass.observed", title: "The same with an observer of all activities"),
            ],
            contenders: [
                Contender(.uvRunLoop) { _ in
                    [OurPasses.plain(count), OurPasses.observed(count)]
                },
                // libuv has nothing like an observer of a whole pass.
                Contender(.libuv) { _ in
                    [Double(raw_uv_passes(CInt(count))) / Double(count)]
                },
                Contender(.cfRunLoop) { _ in
                    [CFPasses.plain(count / 5), CFPasses.observed(count / 5)]
                },
            ]
        )
    }
}

private enum OurPasses {
    static func plain(_ count: Int) -> Double {
        let loop = UVRunLoop.current
        let source = UVRunLoop.Source { _ in }
        loop.add(source, forMode: .default)
        defer { source.invalidate() }
        return time { for _ in 0..<count { loop.run(mode: .default, for: .zero) } } / Double(count)
    }

    static func observed(_ count: Int) -> Double {
        let tally = Tally(.max) {}
        let observer = UVRunLoop.Observer(activities: .all) { _, _ in tally.add() }
        UVRunLoop.current.add(observer, forMode: .default)
        defer { observer.invalidate() }
        return plain(count)
    }
}

private enum CFPasses {
    static func plain(_ count: Int) -> Double {
        let mode = CF.defaultMode
        let source = CF.source()
        CFRunLoopAddSource(CF.loop, source, mode)
        defer { CFRunLoopSourceInvalidate(source) }
        return time { for _ in 0..<count { CFRunLoopRunInMode(mode, 0, false) } } / Double(count)
    }

    static func observed(_ count: Int) -> Double {
        let tally = Tally(.max) {}
        let all = CFRunLoopActivity.allActivities.rawValue
        let observer = CFRunLoopObserverCreateWithHandler(nil, all, true, 0) { _, _ in tally.add() }
        CFRunLoopAddObserver(CF.loop, observer, CF.defaultMode)
        defer { CFRunLoopObserverInvalidate(observer) }
        return plain(count)
    }
}
