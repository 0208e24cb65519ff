extension Call {
    /// Everything that is measured, in the order in which it is.
    static var all: [Call] { floors + lookups + timers + timerLifetimes + handingOver + ports }
}
