import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopSystem

/// The codes of the system's errors.
@Suite(.timeLimit(.minutes(15))) struct SystemErrorTests {
    @Test func whatIsUsedUpDependsOnTheAttempt() {
        let error = UVError(rawValue: -EAGAIN)
        let codes = [.spawn, .offload, .bind, .send].map {
            UVRunLoop.SystemError($0, error).code
        }
        #expect(codes == [.noProcessesLeft, .noProcessesLeft, .noRoom, .noRoom])
    }
}
