/// Keeps a call whose result is not used from being optimised away.
@inline(never)
func use<Value: ~Copyable>(_ value: borrowing Value) {}
