extension UVRunLoop {
    /// Whether debug builds warn, on standard error, when an item is released that was never added
    /// to a loop.
    ///
    /// The handler of such an item could never be called, which is almost always a mistake. An item
    /// that is invalidated before its release, and a timer that was fired, make no warning; nor do
    /// accepted connections and remote message ports. A breakpoint on `UnusedItems.warn` shows
    /// where the item is released.
    ///
    /// It is `true` at first, unless the environment has `UVRUNLOOP_WARNS_OF_UNUSED_ITEMS=0`.
    /// Release builds never warn.
    ///
    /// > Threading: Any thread.
    public static var warnsOfUnusedItems: Bool {
        get {
            #if DEBUG
            UnusedItems.isOn.load(ordering: .relaxed)
            #else
            false
            #endif
        }
        set {
            #if DEBUG
            UnusedItems.isOn.store(newValue, ordering: .relaxed)
            #endif
        }
    }
}
