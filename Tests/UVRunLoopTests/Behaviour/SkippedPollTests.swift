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

    @Test func nothingTellsThatPollsWereSkipped() throws {
        for seed in 1...300 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            try expectNoDifference(Program(&random), "seed \(seed)")
        }
    }

    private func expectNoDifference(_ program: Program, _ comment: Comment = "") throws {
        let one = try withLoop(.manual) { try program.perform(on: $0, $1, inOneRun: true) }
        let many = try withLoop(.manual) { try program.perform(on: $0, $1, inOneRun: false) }
        #expect(one == many && one.count == Program.length, comment)
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

    /// Each port does the same in every call.
    init(hot: Int, scripts: [[Action]], first: Int? = nil, isCommon: Bool = false) {
        hotCount = hot
        self.scripts = scripts.map { Array(repeating: $0, count: 20) }
        orders = Array(0..<scripts.count)
        self.first = first ?? hot
        self.isCommon = isCommon
    }

    init(_ random: inout SeededGenerator) {
        hotCount = 1 + random.below(3)
        let ports = 1 + random.below(3)
        var actions: [Action] = [.addTimer, .runOther, .runDefault]
        for port in hotCount..<(hotCount + ports) {
            actions += [.send(port), .send(port), .sendFromBlock(port), .sendFromSource(port)]
        }
        actions += (0..<(hotCount + ports)).map(Action.comeAgain)
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

    init(_ program: Program, _ loop: UVRunLoop, _ log: EventLog) throws {
        (self.program, self.loop, self.log) = (program, loop, log)
        calls = program.scripts.map { _ in 0 }
        addFarTimer(to: loop, in: other)
        for index in program.scripts.indices {
            let port = try makePort(index)
            ports.append(port)
            loop.add(port, forMode: program.isCommon ? .common : .default)
        }
    }

    private func makePort(_ index: Int) throws -> any UVRunLoop.PortSource {
        let order = program.orders[index]
        guard index < program.hotCount else {
            return UVRunLoop.Port(order: order) { [unowned self] _, _ in didCall(index) }
        }
        let pipe = Pipe()
        pipe.write("x")
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
