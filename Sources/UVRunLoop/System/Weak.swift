/// A weak reference as a value.
package struct Weak<Object: AnyObject & Sendable>: Sendable {
    package weak let object: Object?

    package init(_ object: Object?) { self.object = object }
}
