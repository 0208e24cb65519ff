import Testing
import UVRunLoop

/// The activities that observers are told of in a pass that sleeps.
let sleepingPass = ["beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting"]

/// Keeps a mode from being empty, without ever being due in a test.
func addFarTimer(to loop: UVRunLoop, in mode: UVRunLoop.Mode = .default) {
    loop.add(UVRunLoop.Timer(after: .seconds(3600)) { _ in }, forMode: mode)
}

func addTimer(to loop: UVRunLoop, after delay: Duration, _ action: @escaping () -> Void) {
    loop.add(UVRunLoop.Timer(after: delay) { _ in action() }, forMode: .default)
}

func addSignalledSource(to loop: UVRunLoop, _ action: @escaping () -> Void) {
    let source = UVRunLoop.Source { _ in action() }
    loop.add(source, forMode: .default)
    source.signal()
}

/// A source that is always ready, because it never reads.
func hotPort(
    _ pipe: Pipe,
    _ log: EventLog,
    as name: String
) throws -> UVRunLoop.DescriptorSource {
    pipe.write("x")
    return try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
        log.note(name)
        withExtendedLifetime(pipe) {}
    }
}

/// A source that reads from a pipe and notes what came.
func reader(
    _ pipe: Pipe,
    _ log: EventLog,
    as name: String = "read"
) throws -> UVRunLoop.DescriptorSource {
    try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
        log.note("\(name) \(pipe.read() ?? "nothing")")
    }
}

/// A source that calls a body when its pipe is ready.
func portReader(
    _ pipe: Pipe,
    order: Int = 0,
    _ body: @escaping () -> Void
) throws -> UVRunLoop.DescriptorSource {
    try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable, order: order) { _, _ in
        body()
    }
}

/// A source that notes its name and reads from a pipe, then calls a body.
func portReader(
    _ pipe: Pipe,
    order: Int = 0,
    noting name: String,
    in log: EventLog,
    then body: @escaping () -> Void = {}
) throws -> UVRunLoop.DescriptorSource {
    try portReader(pipe, order: order) {
        log.note(name)
        _ = pipe.read()
        body()
    }
}

/// A port in a mode that notes its messages, then passes them on.
func messagePort(
    in loop: UVRunLoop,
    _ log: EventLog,
    mode: UVRunLoop.Mode = .default,
    _ body: @escaping (Int32) -> Void = { _ in }
) -> UVRunLoop.Port {
    let port = UVRunLoop.Port { _, message in
        log.note("\(message.id)")
        body(message.id)
    }
    loop.add(port, forMode: mode)
    return port
}

/// Sends a message without waiting for room.
func send(_ id: Int32, to port: UVRunLoop.Port) {
    #expect(port.send(UVRunLoop.PortMessage(id: id), limit: .zero))
}

/// Stops the run from the `beforeTimers` notification of its pass with that number.
func stop(_ loop: UVRunLoop, inPass number: Int, in mode: UVRunLoop.Mode = .default) {
    var passes = 0
    let observer = UVRunLoop.Observer(activities: .beforeTimers) { _, _ in
        passes += 1
        if passes == number { loop.stop() }
    }
    loop.add(observer, forMode: mode)
}

/// Lets another thread act once the loop has gone to sleep for that time.
func duringSleep(
    _ number: Int = 1,
    of loop: UVRunLoop,
    in mode: UVRunLoop.Mode = .default,
    _ action: @escaping @Sendable () -> Void
) {
    var sleeps = 0
    let observer = UVRunLoop.Observer(activities: .beforeWaiting) { _, _ in
        sleeps += 1
        if sleeps == number { elsewhere(after: .milliseconds(5), loop, action) }
    }
    loop.add(observer, forMode: mode)
}
