import UVRunLoop
import UVRunLoopTesting

/// What happened, in order, from whatever thread.
package typealias EventLog = UVRunLoop.EventLog
