/// Which thread of which process a loop belongs to, how its items refer to it, and its label and
/// activity for tracers.
struct LoopIdentity: ~Copyable, Sendable {
    /// The thread that runs the loop, as the one that releases handlers.
    let home: HomeThread
    /// The timers, observers and ports in the loop refer to it by its anchor.
    let anchor = LoopAnchor.take()
    private let process = OwnerProcess()
    /// Whether the loop is ``UVRunLoop/main``, which serves the main dispatch queue.
    let isMain: Bool
    /// The name of the loop in descriptions and traps.
    let label = LabelBox()
    /// The activity of its thread; made when something watches.
    let activity = OnceReference<LoopActivity>()

    init(home: HomeThread, isMain: Bool) {
        self.home = home
        self.isMain = isMain
    }

    var isCurrentThread: Bool { home.identity == .current }
    var isThisProcess: Bool { process.isCurrent }
}
