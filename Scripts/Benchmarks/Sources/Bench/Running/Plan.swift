/// Everything that can be measured, in the order in which it is.
enum Plan {
    static func jobs(_ effort: Effort) -> [Job] {
        [
            .pass(effort),
            .modes(effort),
            .runs(effort),
            .perform(effort),
            .pingPong(effort),
            .wakeOnOneCore(effort),
            .timers(effort),
            .cancel(effort),
            .redate(effort),
            .memory(effort),
            .latenessIdle(effort),
            .latenessBusy(effort),
            .latenessUnderLoad(effort),
            .descriptors(effort),
            .tolerance(effort),
            .nested(effort),
            .thread(effort),
            .resumedTasks(effort),
            .awaitingTasks(effort),
            .answeredTasks(effort),
            .actorCalls(effort),
            .callsByTasks(effort),
            .readiness(effort),
            .hopsOnOneCore(effort),
            .sleepingTasks(effort),
            .yieldingTasks(effort),
            .growingSources(effort),
            .growingModes(effort),
            .growingThreads(effort),
            .growingDescriptors(effort),
            .growingDepth(effort),
        ]
    }
}
