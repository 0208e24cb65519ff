// One import suffices for code that uses the names `RunLoop` and `Timer`:
//
//     import UVRunLoopFoundation
//
//     typealias RunLoop = UVRunLoop
//     typealias Timer = UVRunLoop.Timer
@_exported public import UVRunLoop
