extension UVRunLoop {
    /// A handler that has been running for too long, as a ``Monitor`` reports it.
    ///
    /// > Threading: Any thread.
    public struct Hang: Sendable {
        /// The loop that called the handler.
        public let loop: UVRunLoop
        /// The kind of the handler.
        public let kind: HandlerKind
        /// The label of the item whose handler it is; `nil` if it has none, and for blocks and
        /// jobs.
        public let label: String?
        /// The item in one line; `nil` for blocks and jobs.
        public let item: String?
        /// How long the handler has been running, to the system's tick: so far, or, at the end of
        /// the hang, in all.
        ///
        /// The end is noticed up to a quarter of the threshold late, or later if the monitor's
        /// handler was called meanwhile and has run for longer. The time until then counts, or, if
        /// another handler has begun since, until its beginning.
        public internal(set) var duration: Duration
        /// Where the handler was when the hang was found: the program counter, then the return
        /// addresses.
        ///
        /// Empty if the thread could not be interrupted. `UVRunLoopBacktraces` gives the names of
        /// the functions.
        public let stack: [UInt]

        /// The addresses of the stack as they are written, in hexadecimal digits.
        package var addresses: [String] { stack.map(\.address) }
    }
}

extension UVRunLoop.Hang: CustomStringConvertible {
    /// The handler, its loop and the time in one line.
    public var description: String {
        let loop = ObjectLine(kind: "UVRunLoop", label: loop.ownName).text
        return "\(loop) has been in the handler of \(item ?? "a \(kind)") for \(duration.words)"
    }
}
