/// The reports of polls, by libuv's callbacks or by ``DirectPoll``, since the loop last took them.
final class ReadyReports {
    @safe @exclusivity(unchecked) private var reports = OwnedArray<ReadyReport>()
    /// The number of reports that were taken.
    @safe @exclusivity(unchecked) private var taken = 0

    /// The number of hosted sources that the poll has found.
    @safe @exclusivity(unchecked) var hostedCount = 0

    /// The number of reports and hosted sources, until all reports are taken.
    var count: Int { reports.count &+ hostedCount }

    func append(_ report: ReadyReport) { reports.append(report) }

    /// Takes the oldest report; `nil` if there is none.
    func takeNext() -> ReadyReport? {
        guard taken < reports.count else {
            hostedCount = 0
            return nil
        }
        let report = reports[taken]
        taken += 1
        if taken == reports.count {
            reports.removeAll()
            taken = 0
        }
        return report
    }
}
