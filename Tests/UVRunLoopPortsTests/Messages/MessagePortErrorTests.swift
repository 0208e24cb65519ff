import Testing
import UVRunLoop

@testable import UVRunLoopPorts

/// The text of a message port's errors, and how they are caught.
@Suite(.timeLimit(.minutes(15))) struct MessagePortErrorTests {
    @Test func anErrorIsCaughtByItsName() {
        func fail(_ error: MessagePortError) throws { throw error }
        var caught = ""
        do {
            try fail(.nameTaken)
        } catch MessagePortError.noSuchPort {
            caught = "another"
        } catch MessagePortError.nameTaken {
            caught = "name taken"
        } catch {
            caught = "any"
        }
        #expect(caught == "name taken")
    }

    @Test func anErrorOfAnotherTypeIsNotCaught() {
        let error: any Error = UVRunLoop.PerformError.cancelled
        let isIt = MessagePortError.nameTaken ~= error
        #expect(!isIt)
    }

    @Test func theDescriptionSaysWhatWhereAndWhy() {
        #expect("\(MessagePortError.receiveTimedOut)" == "no reply arrived within the limit")
        #expect(
            "\(MessagePortError.directoryNotTrusted("/tmp/x"))"
                == "a directory is not safe from other users: /tmp/x"
        )
        let refusal = MessagePortError(UVError.notPermitted)
        #expect(refusal.code == .transport && refusal.underlying == .notPermitted)
        #expect("\(refusal)" == "the system refused (\(UVError.notPermitted))")
        #expect(MessagePortError(UVError.tooManyOpenFiles) == .noDescriptorsLeft)
    }
}
