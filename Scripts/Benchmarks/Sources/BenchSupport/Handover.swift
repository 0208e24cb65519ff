/// Carries a value to another thread where the compiler cannot prove that this is safe.
package struct Handover<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
