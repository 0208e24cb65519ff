import BenchSupport
import CoreFoundation
import Foundation

/// Foundation's own run loop on Linux, by the names its C interface has.
package enum CF {
    package static var defaultMode: CFString { kCFRunLoopDefaultMode }

    package static var loop: CFRunLoop {
        guard let loop = CFRunLoopGetCurrent() else { fail("this thread has no CFRunLoop.") }
        return loop
    }

    package static func mode(named name: String) -> CFString {
        unsafeBitCast(name as NSString, to: CFString.self)
    }

    /// A source that calls a handler.
    ///
    /// Each has an object of its own: CFRunLoop takes sources with the same information for equal,
    /// and lets only one of them in.
    package static func source(perform: @escaping () -> Void = {}) -> CFRunLoopSource {
        let handler = Handler(perform)
        var context = CFRunLoopSourceContext()
        context.info = Unmanaged.passUnretained(handler).toOpaque()
        context.retain = { information in
            guard let information else { return nil }
            _ = Unmanaged<Handler>.fromOpaque(information).retain()
            return information
        }
        context.release = { information in
            guard let information else { return }
            Unmanaged<Handler>.fromOpaque(information).release()
        }
        context.perform = { information in
            guard let information else { return }
            Unmanaged<Handler>.fromOpaque(information).takeUnretainedValue().body()
        }
        // It retains the handler before this function lets go of it.
        let source = withExtendedLifetime(handler) { CFRunLoopSourceCreate(nil, 0, &context) }
        guard let source else { fail("no CFRunLoopSource could be made.") }
        return source
    }

    /// The object that a source's information points to.
    private final class Handler {
        let body: () -> Void

        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// A timer for a moment of the monotonic clock.
    package static func timer(
        after delay: Int64,
        interval: Int64 = 0,
        _ handler: @escaping (CFRunLoopTimer?) -> Void
    ) -> CFRunLoopTimer {
        let date = CFAbsoluteTimeGetCurrent() + Double(delay) / 1e9
        return timer(at: date, interval: interval, handler)
    }

    /// A timer for a date of Foundation's clock.
    package static func timer(
        at date: CFAbsoluteTime,
        interval: Int64 = 0,
        _ handler: @escaping (CFRunLoopTimer?) -> Void
    ) -> CFRunLoopTimer {
        let interval = Double(interval) / 1e9
        guard let timer = CFRunLoopTimerCreateWithHandler(nil, date, interval, 0, 0, handler) else {
            fail("no CFRunLoopTimer could be made.")
        }
        return timer
    }
}
