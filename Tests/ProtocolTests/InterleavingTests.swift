import Glibc
import Testing

@testable import UVRunLoop

/// Every interleaving of a loop and its senders, on the shipped words: nothing is lost.
@Suite(.timeLimit(.minutes(60))) struct InterleavingTests {
    @Test(arguments: Coverage.current.scripts)
    func nothingIsLostInAnyInterleaving(of scripts: ScriptFamily) {
        var states = 0
        for script in scripts.scripts {
            let finding = Explorer.explore(script)
            states += finding.states
            #expect(finding.failure == nil, "\(finding)")
        }
        if Coverage.current.tells {
            print("explore: \(scripts): \(scripts.scripts.count) scripts, \(states) states")
            fflush(nil)
        }
    }

    @Test(arguments: Mutant.all)
    func theExplorerNotices(mutant: Mutant) {
        var states = 0
        for script in mutant.scripts {
            let finding = Explorer.explore(script, mutant: mutant)
            states += finding.states
            guard let failure = finding.failure else { continue }
            if Coverage.current.tells {
                print("explore: \(mutant.name): \(failure) \(script), \(states) states")
                fflush(nil)
            }
            return
        }
        Issue.record("Nothing notices: \(mutant.name)")
    }
}
