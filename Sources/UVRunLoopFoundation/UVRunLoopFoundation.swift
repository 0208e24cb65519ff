// One import is enough for code that calls its loop `RunLoop` and its timers `Timer`:
//
//     import UVRunLoopFoundation
//
//     typealias RunLoop = UVRunLoop
//     typealias Timer = UVRunLoop.Timer
@_exported public import UVRunLoop
