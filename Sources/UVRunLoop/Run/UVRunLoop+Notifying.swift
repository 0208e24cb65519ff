extension UVRunLoop {
    /// Notifies the mode's observers of an activity.
    ///
    /// Observers added during the notification are not called.
    @inline(__always)
    func notify(_ activity: Activities, _ run: inout Run) {
        refresh(&run)
        guard run.view.observers.observed.contains(activity) else { return }
        callObservers(activity, run.view)
        run.discardClockReading()
    }

    /// Not inlined: an activity without observers, as most are, is passed over in place.
    @inline(never)
    private func callObservers(_ activity: Activities, _ view: borrowing Engine.View) {
        if LoopTracing.isOn { return callTracedObservers(activity, view) }
        view.observers.forEach(observing: activity) { observer in
            observer.callOut(activity)
            checkProcess()
        }
    }
}
