/// A handler that need not be `Sendable`, because it is only called on the thread that created it.
///
/// Unchecked: no convenient static rule expresses this, because an item may be passed to any thread
/// while its handler stays at home. The loop that an item is added to checks the thread, and so
/// does every call.
@usableFromInline
package struct ThreadBound<Body>: @unchecked Sendable {
    @usableFromInline let handler: Body
    /// The home thread; `nil` if the handler may run on any thread.
    @usableFromInline let owner: HomeThread?

    /// The identity of the home thread; `nil` if the handler may run on any thread.
    package var home: ThreadIdentity? { owner?.identity }

    /// Binds a handler to the calling thread.
    @inlinable
    package init(_ handler: Body) {
        self.handler = handler
        owner = .current
    }

    /// Stores a handler that is `Sendable`.
    ///
    /// `Body` cannot express that, because plain handlers have the same type; the caller guarantees
    /// it.
    @inlinable
    package init(sendable handler: Body) {
        self.handler = handler
        owner = nil
    }

    /// The handler; traps on a thread other than its home.
    @inlinable
    package var value: Body {
        require(owner == nil || owner?.isCurrent == true, Self.rule)
        return handler
    }

    @usableFromInline
    package static var rule: String {
        """
        This item's handler is not @Sendable, so it belongs to the thread that created the item. \
        Create the item on the thread whose loop serves it, or use the initialiser with a \
        sendable handler.
        """
    }
}
