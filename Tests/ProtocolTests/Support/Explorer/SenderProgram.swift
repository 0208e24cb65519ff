@testable import UVRunLoop

/// One thing that another thread may do to a loop.
enum Operation: UInt8, Hashable, CaseIterable, Sendable {
    case postFirst, postSecond
    case signalFirst, signalSecond
    case wakeUp
    /// An observer or the like is added to the first mode, by which nothing becomes ready.
    case change
    /// The last item leaves the first mode.
    case empty
    case stop
    /// The thread is told to stop.
    case end
    /// The first timer is put off, or removed; another one is added.
    case putOff, removeTimer, addTimer

    static let timers: [Operation] = [.putOff, .removeTimer, .addTimer]
    static let withoutTimers = allCases.filter { !timers.contains($0) }
    static let withTimers: [Operation] = [.putOff, .addTimer, .change, .wakeUp, .stop, .postFirst]
}

/// The program of a sender: one operation after the other.
struct SenderProgram {
    let world: World
    let operations: [Operation]
    /// Tells the blocks of senders apart.
    let number: UInt8

    private var recital: Recital { world.recital }

    func perform(_ index: Int) {
        switch operations[index] {
        case .postFirst: post(number * 8 + UInt8(index))
        case .postSecond: post(number * 8 + UInt8(index) + 128)
        case .signalFirst: signal(1)
        case .signalSecond: signal(2)
        case .wakeUp:
            recital.noteCall(.wakeCalled)
            world.wakeUp()
        case .change:
            change { $0.version += 1 }
        case .empty:
            change {
                $0.version += 1
                $0.items &= ~1
            }
        case .stop:
            let call = number * 2 + UInt8(index)
            recital.noteCall(.stopCalled(call))
            let wasRunning = world.runs.stop()
            recital.note(.stopReturned(call, wasRunning))
            if wasRunning { world.contentsDidChange() }
        case .end:
            world.end(.atOnce)
        case .putOff:
            changeTimer(EngineContent.firstDate) {
                $0.move(EngineContent.firstDate, to: EngineContent.lateDate)
            }
        case .removeTimer:
            changeTimer(EngineContent.firstDate) { $0.remove(EngineContent.firstDate) }
        case .addTimer:
            changeTimer(EngineContent.otherDate) { $0.insert(EngineContent.otherDate) }
        }
    }

    /// `UVRunLoop.perform(inModes:_:)`.
    private func post(_ number: UInt8) {
        if world.has(.markedBeforeThePost) { world.blocksDidChange() }
        let isAccepted = world.queue.post(number, mark: World.mark(of: number))
        guard isAccepted else { return }
        recital.note(.posted(number))
        if !world.has(.markedBeforeThePost) { world.blocksDidChange() }
    }

    /// `UVRunLoop.Source.signal()`, which wakes nobody.
    private func signal(_ bit: UInt8) {
        world.withEngine { if !$0.isClosed { $0.signals |= bit } }
    }

    private func changeTimer(_ date: UInt8, _ body: (inout EngineContent) -> Void) {
        world.withEngine { if !$0.isClosed { body(&$0) } }
        world.timersDidChange(soonest: date)
    }

    private func change(_ body: (inout EngineContent) -> Void) {
        world.withEngine { if !$0.isClosed { body(&$0) } }
        world.contentsDidChange()
    }
}
