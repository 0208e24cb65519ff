/// Does something when nothing refers to it any more.
package final class Farewell: Sendable {
    private let act: @Sendable () -> Void

    package init(_ act: @escaping @Sendable () -> Void) { self.act = act }

    deinit { act() }
}
