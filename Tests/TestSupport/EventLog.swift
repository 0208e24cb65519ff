import UVRunLoop
import UVRunLoopTesting

/// The events of any thread, in the order in which they happened.
package typealias EventLog = UVRunLoop.EventLog
