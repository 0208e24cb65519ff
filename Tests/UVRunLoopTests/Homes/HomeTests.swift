import TestSupport
import Testing

@testable import UVRunLoop

/// Which thread a handler belongs to, and how it is found.
@Suite(.timeLimit(.minutes(15))) struct HomeTests {
    @Test func aThreadIsFoundFromItsFirstUseUntilItEnds() {
        let identities = Guarded<[ThreadIdentity]>([])
        for _ in 0..<5 {
            onAnotherThread {
                let identity = ThreadIdentity.current
                #expect(HomeThread.find(identity)?.identity == identity)
                identities.withLock { $0.append(identity) }
            }
        }
        let ended = identities.withLock { $0 }
        #expect(Set(ended).count == 5)
        for identity in ended {
            #expect(HomeThread.find(identity) == nil)
            #expect(!Home(identity).post {})
        }
    }

    @Test func theMainThreadIsAlwaysFound() {
        #expect(HomeThread.find(.main) === HomeThread.main)
    }

    @Test func onlyTheThreadItselfIsHere() {
        #expect(Home.anywhere.isHere && Home.anywhere.isAnywhere)
        let home = Home.current
        #expect(home.isHere && !home.isAnywhere)
        onAnotherThread {
            // A thread that has not used the library has no identity yet, and gets none by asking.
            #expect(!home.isHere && Home.anywhere.isHere)
            #expect(Home.current != home)
        }
    }

    @Test func aHandlerMayBeCalledAtHomeAndWithoutAHomeAnywhere() {
        let here = ThreadIdentity.current
        let caller = { @Sendable in Caller(#fileID, #line, "timer") }
        Home.current.check(is: here, caller)
        onAnotherThread {
            Home.anywhere.check(is: here, caller)
            Home.anywhere.check(is: .current, caller)
        }
    }
}
