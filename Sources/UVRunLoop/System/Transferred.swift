/// A value that one thread hands to another, which alone uses it from then on.
///
/// Unchecked: a copy of the value stays with the thread that handed it over, which does not use it.
/// `sending` and region isolation cannot express that for what is kept in an object or captured by
/// an escaping closure.
@safe
struct Transferred<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
