import Testing

@testable import UVRunLoop

/// When within a timer's window, or before a run's limit, a loop wakes.
@Suite(.timeLimit(.minutes(15))) struct MomentTests {
    private let slack = Moment.slack

    @Test func aTimerWithoutToleranceIsMetExactly() {
        let moment = Moment(WakeWindow(earliest: 500, latest: 500))
        #expect(moment == Moment(date: 500, isCoarse: false))
    }

    @Test func aWindowAsWideAsTheSlackIsMetCoarselyAndNeverAfterItsEnd() {
        for width in [slack, slack + 1, 10 * slack] {
            let moment = Moment(WakeWindow(earliest: 1000, latest: 1000 + width))
            #expect(moment.isCoarse)
            #expect(moment.date >= 1000)
            #expect(moment.date + slack == 1000 + width)
        }
    }

    @Test func aNarrowerWindowIsMetExactlyAndWithin() {
        for width in [1, 2, 3, slack / 2, slack - 1] {
            let moment = Moment(WakeWindow(earliest: 1000, latest: 1000 + width))
            #expect(!moment.isCoarse)
            #expect((1000...1000 + width).contains(moment.date))
        }
    }

    @Test func aWindowWithoutMeasureIsWide() {
        let moment = Moment(WakeWindow(earliest: .min, latest: .max))
        #expect(moment.isCoarse && moment.date == .max - slack)
        let open = Moment(WakeWindow(earliest: 7, latest: .max))
        #expect(open.isCoarse && open.date == .max - slack)
    }

    @Test func aLimitIsCoarseFromTheSlackOn() {
        #expect(
            Moment(limit: 1000 + slack, now: 1000) == Moment(date: 1000 + slack, isCoarse: true)
        )
        #expect(!Moment(limit: 999 + slack, now: 1000).isCoarse)
        #expect(!Moment(limit: .min, now: 1000).isCoarse)
        #expect(Moment(limit: .max, now: 1000).isCoarse)
    }

    @Test func aCoarseMomentIsMetWithinItsSlackAndAFineOneAtItsDate() {
        #expect(Moment(date: 1000, isCoarse: true).latest == 1000 + slack)
        #expect(Moment(date: 1000, isCoarse: false).latest == 1000)
        #expect(Moment(date: .max - 1, isCoarse: true).latest == .max)
    }

    @Test func aCoarseMomentIsMetExactlyBeforeAFineOneWithinItsSlack() {
        let coarse = Moment(date: 1000, isCoarse: true)
        let exact = Moment(date: 1000, isCoarse: false)
        for distance in [0, 1, slack - 1] {
            let fine = Moment(date: 1000 + distance, isCoarse: false)
            #expect(Moment.earlier(coarse, fine) == exact)
            #expect(Moment.earlier(fine, coarse) == exact)
        }
        let later = Moment(date: 1000 + slack, isCoarse: false)
        #expect(Moment.earlier(coarse, later) == coarse)
        #expect(Moment.earlier(later, coarse) == coarse)
        let last = Moment(date: .max - 1, isCoarse: true)
        #expect(Moment.earlier(last, Moment(date: .max, isCoarse: false)) == last)
    }

    @Test func theEarlierOfTwoMomentsCountsAndTheFirstOfEqualOnes() {
        let one = Moment(date: 1, isCoarse: false)
        let two = Moment(date: 2, isCoarse: true)
        #expect(Moment.earlier(one, two) == one)
        #expect(Moment.earlier(two, one) == one)
        #expect(Moment.earlier(nil, two) == two)
        #expect(Moment.earlier(one, nil) == one)
        #expect(Moment.earlier(nil, nil) == nil)
        let equal = Moment(date: 1, isCoarse: true)
        #expect(Moment.earlier(one, equal) == one)
    }
}
