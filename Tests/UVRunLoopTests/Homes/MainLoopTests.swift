import Testing

@testable import UVRunLoop

/// The references of the main thread's loop, which is never released.
@Suite(.timeLimit(.minutes(15))) struct MainLoopTests {
    /// So threads that take and drop some at the same time do not write to one word.
    @Test func itsReferencesAreNotCounted() async {
        await #expect(processExitsWith: .success) {
            let loop = UVRunLoop.main
            let before = countWord(of: loop)
            let references = Array(repeating: loop, count: 100)
            precondition(countWord(of: loop) == before)
            withExtendedLifetime(references) {}
            precondition(countWord(of: loop) == before)
        }
    }

    @Test func itsWeakAndUnownedReferencesStayValid() async {
        await #expect(processExitsWith: .success) {
            unowned let unownedLoop = UVRunLoop.main
            weak let weakLoop = UVRunLoop.main
            for _ in 1...1000 {
                weak let another = weakLoop
                precondition(another === UVRunLoop.main && unownedLoop === another)
            }
            precondition(weakLoop === UVRunLoop.main)
        }
    }
}

/// The word of an object in which the runtime counts its references.
private func countWord(of object: AnyObject) -> UInt {
    unsafe Unmanaged.passUnretained(object).toOpaque()
        .load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self)
}
