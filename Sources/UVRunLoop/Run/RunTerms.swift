extension Run {
    /// The caller's conditions for a run.
    struct Terms {
        /// Nanoseconds of the loop's clock; `nil` for a run without a limit.
        var limit: Int64?
        /// Whether the limit had passed before the run began, or the loop is ending.
        ///
        /// Such a run is one pass that does not wait.
        var limitWasPast = false
        var returnsAfterSource = false
        /// Whether the run continues although its mode is empty.
        var staysWhenEmpty = false
        /// Whether the run performs the work left after the loop was ended.
        ///
        /// It makes one pass in any case.
        var performsQueuedWork = false
        /// A further condition that ends the run at the end of its current pass; checked before
        /// each sleep and at the end of each pass.
        ///
        /// One value, and moved from the caller to the run: with an enum of references, which was
        /// copied, a run took 180 instructions more.
        var endCondition: EndCondition?
    }
}

/// Returns whether a run ends; called on the loop's thread.
package typealias EndCondition = () -> Bool
