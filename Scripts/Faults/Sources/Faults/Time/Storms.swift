import Injection

extension Corner {
    static let storms = [
        Corner("interruptions") { scale in
            clock_interrupt_every(100)
            defer { clock_interrupt_every(0) }
            for round in 0..<(20 * scale) { try performAll("round \(round)") }
            if clock_interruptions() < 100 {
                throw Missing(what: "interruptions: \(clock_interruptions())")
            }
        }
    ]
}
