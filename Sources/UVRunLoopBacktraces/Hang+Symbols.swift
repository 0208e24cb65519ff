import Runtime
import UVRunLoop

extension UVRunLoop.Hang {
    /// Finds the functions of the ``UVRunLoop/Hang/stack``, by the Swift runtime's own backtraces.
    ///
    /// It reads the files of the program and its libraries, which may take half a second. Without
    /// debug information there are no source locations.
    ///
    /// > Threading: Any thread.
    ///
    /// - Returns: One line for each function, innermost first; functions that were inlined have
    ///   lines of their own. The bare addresses if the runtime cannot read the files.
    public func symbolicatedStack() -> [String] {
        guard let symbols = Backtrace(stack)?.symbolicated() else { return addresses }
        return symbols.frames.map { frame in
            guard let symbol = frame.symbol else { return "\(frame.captured)" }
            let place = symbol.sourceLocation.map { " at \($0)" } ?? ""
            return "\(symbol.name) + \(symbol.offset) in \(symbol.imageName)\(place)"
        }
    }
}
