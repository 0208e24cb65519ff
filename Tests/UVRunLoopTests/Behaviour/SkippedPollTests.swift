import Testing
import TestSupport
import UVRunLoop

private let other = UVRunLoop.Mode("skipped polls, other")

/// A run that skips polls serves the same ports in the same order as one that polls in each pass.
///
/// Runs of one pass skip none: each program makes both kinds, in virtual time, and its descriptors
/// are always ready, so nothing depends on when that is found.
@Suite(.timeLimit(.minutes(15))) struct SkippedPollTests {
    @Test func aRunOfAnotherModeChangesNoPlace() throws {
        try expectNoDifference(Program(hot: 1, scripts: [[], [.send(1), .runOther]]))
    }

    /// One comes between the call of the first port and the next poll.
    @Test(arguments: [Action.sendFromBlock(3), .sendFromSource(3)])
    func aMessageThatABlockOrASourceSendsIsNewerThanTheCallBefore(action: Action) throws {
        let scripts = [[], [action], [], [.runOther]]
        try expectNoDifference(Program(hot: 3, scripts: scripts, first: 3))
    }

    @Test func aCommonSourceThatLeavesItsLastModeKeepsNoPlace() throws {
        let scripts: [[Action]] = [[.send(1), .send(1)], [.comeAgain(0)]]
        try expectNoDifference(Program(hot: 1, scripts: scripts, isCommon: true))
    }

    @Test func aRunThatMakesNoPassChangesNoPlace() throws {
        let scripts: [[Action]] = [[], [.runDefaultStopped, .runOther, .send(1)]]
        try expectNoDifference(Program(hot: 1, scripts: scripts))
    }

    @Test func theEndOfARunAndARunOfAnotherModeAfterItChangeNoPlace() throws {
        let scripts: [[Action]] = [[], [.stop, .send(1)]]
        try expectNoDifference(Program(hot: 1, scripts: scripts))
    }

    /// It was off when the poll was skipped.
    @Test func aSourceThatWasOffGetsNoPlace() throws {
        let scripts: [[Action]] = [[.send(1), .send(1), .send(1)], [.join(0)]]
        try expectNoDifference(Program(hot: 1, scripts: scripts, hungUp: 1))
    }

    /// It was only in the other mode when the poll was skipped.
    @Test func aSourceThatHadLeftTheModeGetsNoPlace() throws {
        let scripts: [[Action]] = [[.leave(0), .send(1), .send(1), .send(1)], [.join(0)]]
        var program = Program(hot: 1, scripts: scripts, isInOther: true)
        program.scripts[0].removeLast(program.scripts[0].count - 1)
        try expectNoDifference(program)
    }

    @Test func aSourceThatJoinsAnotherModeKeepsItsPlace() throws {
        let scripts: [[Action]] = [[.send(1), .send(1)], [.joinOther(0), .send(1)]]
        try expectNoDifference(Program(hot: 1, scripts: scripts))
    }

    @Test func nothingTellsThatPollsWereSkipped() throws {
        for seed in 1...600 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            // Some come to rest: all their descriptors leave the mode.
            try expectNoDifference(Program(&random), "seed \(seed)", toItsEnd: false)
        }
    }

    private func expectNoDifference(
        _ program: Program,
        _ comment: Comment = "",
        toItsEnd: Bool = true
    ) throws {
        let one = try withLoop(.manual) { try program.perform(on: $0, $1, inOneRun: true) }
        let many = try withLoop(.manual) { try program.perform(on: $0, $1, inOneRun: false) }
        #expect(one == many && (!toItsEnd || one.count == Program.length), comment)
    }
}

/// What the handler of a port does.
enum Action: Sendable {
    case send(Int)
    case sendFromBlock(Int)
    case sendFromSource(Int)
    case addTimer
    case runOther
    case runDefault
    /// Runs the mode, which an observer stops before its first pass.
    case runDefaultStopped
    /// Stops the run; if it is the outermost one, the other mode is run next.
    case stop
    case leave(Int)
    case join(Int)
    case joinOther(Int)
    /// Removes a port, and adds it again.
    case comeAgain(Int)
}

/// Descriptors that are always ready, ports with messages, and what their handlers do.
private struct Program {
    static let length = 30

    var hotCount: Int
    /// For each port and each of its first calls; those of descriptors come first.
    var scripts: [[[Action]]]
    var orders: [Int]
    /// The port that has a message at the beginning.
    var first: Int
    var isCommon = false
    /// Whether the ports are in the other mode, too.
    var isInOther = false
    /// How many of the descriptors have hung up, from the first one on.
    var hungUp = 0

    /// Each port does the same in every call.
    init(
        hot: Int,
        scripts: [[Action]],
        first: Int? = nil,
        isCommon: Bool = false,
        isInOther: Bool = false,
        hungUp: Int = 0
    ) {
        hotCount = hot
        self.scripts = scripts.map { Array(repeating: $0, count: 20) }
        orders = Array(0..<scripts.count)
        self.first = first ?? hot
        self.isCommon = isCommon
        self.isInOther = isInOther
        self.hungUp = hungUp
    }

    init(_ random: inout SeededGenerator) {
        hotCount = 1 + random.below(3)
        let ports = 1 + random.below(3)
        var actions: [Action] = [.addTimer, .runOther, .runDefault, .runDefaultStopped, .stop]
        for port in hotCount..<(hotCount + ports) {
            actions += [.send(port), .send(port), .sendFromBlock(port), .sendFromSource(port)]
        }
        for port in 0..<(hotCount + ports) {
            actions += [.comeAgain(port), .leave(port), .join(port), .joinOther(port)]
        }
        isInOther = random.below(2) == 0
        hungUp = random.below(2)
        scripts = (0..<(hotCount + ports)).map { _ in
            (0..<12).map { _ in (0..<random.below(3)).map { _ in random.pick(actions) } }
        }
        orders = scripts.map { _ in random.below(3) }
        first = hotCount + random.below(ports)
    }

    /// Performs it until so much is noted; returns what was.
    func perform(on loop: UVRunLoop, _ log: EventLog, inOneRun: Bool) throws -> [String] {
        let stage = try Stage(self, loop, log)
        stage.perform(.send(first))
        addTimer(to: loop, after: .seconds(1)) { loop.stop() }
        var passes = 0
        while log.count < Self.length, passes < 200 {
            passes += 1
            loop.run(mode: .default, for: inOneRun ? .seconds(60) : .zero)
            if exchange(&stage.isStopped, with: false) { stage.perform(.runOther) }
        }
        stage.end()
        return Array(log.entries.prefix(Self.length))
    }
}

private final class Stage {
    let program: Program
    let loop: UVRunLoop
    let log: EventLog
    var ports: [any UVRunLoop.PortSource] = []
    var calls: [Int]
    var depth = 0
    var isStopped = false

    init(_ program: Program, _ loop: UVRunLoop, _ log: EventLog) throws {
        (self.program, self.loop, self.log) = (program, loop, log)
        calls = program.scripts.map { _ in 0 }
        addFarTimer(to: loop, in: other)
        for index in program.scripts.indices {
            let port = try makePort(index)
            ports.append(port)
            loop.add(port, forMode: program.isCommon ? .common : .default)
            if program.isInOther { loop.add(port, forMode: other) }
        }
    }

    private func makePort(_ index: Int) throws -> any UVRunLoop.PortSource {
        let order = program.orders[index]
        guard index < program.hotCount else {
            return UVRunLoop.Port(order: order) { [unowned self] _, _ in didCall(index) }
        }
        let pipe = Pipe()
        if index < program.hungUp { pipe.closeWriteEnd() } else { pipe.write("x") }
        return try portReader(pipe, order: order) { [unowned self] in
            didCall(index)
            withExtendedLifetime(pipe) {}
        }
    }

    func end() { for port in ports { port.invalidate() } }

    private func didCall(_ index: Int) {
        log.note("\(index)")
        let script = program.scripts[index]
        if calls[index] < script.count {
            calls[index] += 1
            for action in script[calls[index] - 1] { perform(action) }
        }
        if log.count >= Program.length { loop.stop() }
    }

    func perform(_ action: Action) {
        switch action {
        case .send(let port): send(to: port)
        case .sendFromBlock(let port):
            loop.performLocally(inModes: [.default]) { [self] in send(to: port) }
        case .sendFromSource(let port): addSignalledSource(to: loop) { [self] in send(to: port) }
        case .addTimer:
            UVRunLoopTests.addTimer(to: loop, after: .zero) { [log] in log.note("timer") }
        case .runOther: run(other)
        case .runDefault: run(.default)
        case .runDefaultStopped:
            let stopper = UVRunLoop.Observer(activities: .entry) { [loop] _, _ in loop.stop() }
            loop.add(stopper, forMode: .default)
            run(.default)
            stopper.invalidate()
        case .stop:
            loop.stop()
            if depth == 0 { isStopped = true }
        case .leave(let port): loop.remove(ports[port], forMode: .default)
        case .join(let port): loop.add(ports[port], forMode: .default)
        case .joinOther(let port): loop.add(ports[port], forMode: other)
        case .comeAgain(let port):
            loop.remove(ports[port], forMode: .default)
            loop.add(ports[port], forMode: .default)
        }
    }

    private func send(to port: Int) {
        _ = (ports[port] as? UVRunLoop.Port)?.send(UVRunLoop.PortMessage(), limit: .zero)
    }

    private func run(_ mode: UVRunLoop.Mode) {
        guard depth < 2 else { return }
        depth += 1
        log.note("(")
        loop.run(mode: mode, for: .zero)
        log.note(")")
        depth -= 1
    }
}
