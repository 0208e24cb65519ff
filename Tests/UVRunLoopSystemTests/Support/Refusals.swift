import UVRunLoop
import UVRunLoopSystem

/// The code of the error that a body throws.
func code(
    of body: () throws(UVRunLoop.SystemError) -> Void
) -> UVRunLoop.SystemError.Code? {
    do {
        try body()
        return nil
    } catch {
        return error.code
    }
}
