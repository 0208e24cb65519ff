/// A handler that need not be `Sendable`, because it is only ever called on the thread that made
/// it.
///
/// Unchecked, because no static rule says this and stays pleasant: an item can be handed to any
/// thread while its handler stays at home. The loop that an item is added to checks this, and so
/// does every call.
@usableFromInline
package struct ThreadBound<Body>: @unchecked Sendable {
    @usableFromInline let handler: Body
    /// `nil` for a handler that may run on any thread.
    @usableFromInline let owner: HomeThread?

    /// The thread it belongs to; `nil` for a handler that may run on any.
    package var home: ThreadIdentity? { owner?.identity }

    /// Binds a handler to the calling thread.
    @inlinable
    package init(_ handler: Body) {
        self.handler = handler
        owner = .current
    }

    /// Keeps a handler that is `Sendable` by its type.
    ///
    /// `Body` cannot say so, since it is the type of the plain handlers too; whoever calls this
    /// does.
    @inlinable
    package init(sendable handler: Body) {
        self.handler = handler
        owner = nil
    }

    /// The handler, for a call on the thread it belongs to.
    @inlinable
    package var value: Body {
        require(owner == nil || owner?.isCurrent == true, Self.rule)
        return handler
    }

    @usableFromInline
    package static var rule: String {
        """
        This item's handler is not @Sendable, so it belongs to the thread that made the item. \
        Make the item on the thread whose loop serves it, or use the initialiser with a sendable handler.
        """
    }
}
