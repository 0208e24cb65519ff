import ArgumentParser
import Synchronization

/// Something that goes wrong on purpose.
///
/// A check that never fails may be one that cannot. Each of these has a check that must notice it:
/// the program does what a broken run loop would have done.
enum Fault: String, CaseIterable, Sendable, ExpressibleByArgument {
    case firesEarly = "fires-early"
    case firesTwice = "fires-twice"
    case firesAfterCancel = "fires-after-cancel"
    case firesAfterForeignCancel = "fires-after-foreign-cancel"
    case losesTimer = "loses-timer"
    case leavesGrid = "leaves-grid"
    case miscountsMissed = "miscounts-missed"

    case losesBlock = "loses-block"
    case repeatsBlock = "repeats-block"
    case swapsBlocks = "swaps-blocks"
    case ignoresMode = "ignores-mode"
    case runsBlockElsewhere = "runs-block-elsewhere"

    case losesSignal = "loses-signal"
    case inventsSignal = "invents-signal"
    case losesWakeUp = "loses-wake-up"
    case reversesSources = "reverses-sources"

    case corruptsByte = "corrupts-byte"
    case losesByte = "loses-byte"
    case losesHangUp = "loses-hang-up"

    case losesMessage = "loses-message"
    case swapsMessages = "swaps-messages"

    case answersWrongly = "answers-wrongly"
    case losesRequest = "loses-request"
    case swapsRequests = "swaps-requests"

    case stopsUnasked = "stops-unasked"
    case forgetsStop = "forgets-stop"
    case timesOutEarly = "times-out-early"
    case hidesSource = "hides-source"
    case skipsStep = "skips-step"
    case skipsWait = "skips-wait"

    case misplacesItem = "misplaces-item"
    case miscountsModes = "miscounts-modes"

    case losesInterrupt = "loses-interrupt"

    case keepsCapture = "keeps-capture"
    case losesChild = "loses-child"

    case dropsQueuedWork = "drops-queued-work"
    case keepsThings = "keeps-things"
    case leaksDescriptor = "leaks-descriptor"
    case leaksMemory = "leaks-memory"

    /// The kinds of load in which it happens and is noticed.
    var kinds: [Kind] {
        switch self {
        case .firesEarly, .firesTwice, .firesAfterCancel, .firesAfterForeignCancel, .losesTimer,
            .leavesGrid, .miscountsMissed:
            [.timers]
        case .losesBlock, .repeatsBlock, .swapsBlocks, .ignoresMode, .runsBlockElsewhere: [.blocks]
        case .losesSignal, .inventsSignal, .losesWakeUp, .reversesSources: [.signals]
        case .corruptsByte, .losesByte, .losesHangUp: [.descriptors]
        case .losesMessage, .swapsMessages: [.ports]
        case .answersWrongly, .losesRequest, .swapsRequests: [.performs]
        case .stopsUnasked, .forgetsStop, .timesOutEarly: [.nested]
        case .hidesSource, .skipsStep, .skipsWait: [.nested, .signals]
        case .misplacesItem, .miscountsModes: [.changes]
        case .losesInterrupt: [.interrupts]
        case .keepsCapture: [.captures]
        case .losesChild: [.forks]
        case .dropsQueuedWork, .keepsThings, .leaksDescriptor, .leaksMemory: [.threads]
        }
    }

    /// How often there was an occasion.
    private static let occasions = Atomic<Int>(0)
    private static let strikingOccasion = 20

    /// Answers `true` on one occasion, which is not the first, if this fault was chosen.
    func strikes(_ chosen: Fault?) -> Bool {
        guard chosen == self else { return false }
        return Self.occasions.add(1, ordering: .relaxed).newValue == Self.strikingOccasion
    }

    /// Answers `true` on that occasion and every later one.
    func lasts(_ chosen: Fault?) -> Bool {
        guard chosen == self else { return false }
        return Self.occasions.add(1, ordering: .relaxed).newValue >= Self.strikingOccasion
    }
}
