import UVRunLoop

extension Operation {
    static let threads = [
        Operation(
            "thread",
            "a thread that starts, gets its loop, performs a block in it and ends",
            count: 100
        ) { _ in
            { count, round in
                for _ in 0..<count {
                    // The allocations at the loop's end are not in the part.
                    PosixThread { round.loop { stopLoop() } }.join()
                }
            }
        }
    ]

    private static func stopLoop() {
        let loop = UVRunLoop.current
        loop.perform { loop.stop() }
        loop.run()
    }
}
