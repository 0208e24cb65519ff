import UVRunLoop

extension UVRunLoop {
    /// Changes the mode of a terminal, and puts it back.
    ///
    /// Read the terminal with a ``StandardInput``, and learn of changes of its size with a
    /// ``SignalSource`` for `SIGWINCH`. If a mode was set, the flags from before are put back when
    /// the terminal is closed or released, when the thread of its loop ends, and when the process
    /// exits by `exit` or by returning from its main function; not when a signal ends it. If
    /// several have set the mode of one terminal, the last that is closed puts the flags back.
    ///
    /// A process in the background of its terminal puts nothing back: the flags are those of the
    /// process in the foreground. If it sets the mode, the kernel sends `SIGTTOU`, which stops the
    /// process until it is in the foreground; where a source or other code handles the signal, it
    /// is called, and the mode is not set.
    ///
    /// > Threading: The thread of the loop that has created it; traps elsewhere, except for
    /// > ``close()``.
    public final class Terminal: Sendable {
        private let handle: TerminalHandle

        /// Opens a terminal for the calling thread's loop; it takes a file descriptor, and the first
        /// one of a loop takes another until the loop ends.
        ///
        /// - Parameter descriptor: A descriptor of a terminal, such as the standard input.
        /// - Throws: ``SystemError`` with ``SystemError/Code/notATerminal`` for another kind of
        ///   descriptor; if no descriptors are left, or if the loop has ended.
        @available(*, noasync, message: "A terminal belongs to the thread of its loop.")
        public init(descriptor: CInt = 0) throws(SystemError) {
            handle = try TerminalHandle(descriptor)
        }

        /// Passes every byte on as it is typed, without echo and without signals for keys.
        ///
        /// Call it again when the process continues after a stop (`SIGCONT`): shells set the mode
        /// meanwhile.
        ///
        /// - Throws: ``SystemError`` if the terminal is gone or was closed, and with
        ///   ``SystemError/Code/inBackground``.
        public func setRaw() throws(SystemError) { try set(isRaw: true) }

        /// Puts the mode back to that from before; of several objects that have made one terminal
        /// raw, the last to that from before all of them.
        ///
        /// - Throws: As ``setRaw()``.
        public func setNormal() throws(SystemError) { try set(isRaw: false) }

        private func set(isRaw: Bool) throws(SystemError) {
            checkThread()
            try handle.setRaw(isRaw)
        }

        /// The size of the terminal in characters.
        ///
        /// - Returns: The number of columns and of rows.
        /// - Throws: ``SystemError`` if the terminal is gone or was closed.
        public func size() throws(SystemError) -> (columns: Int, rows: Int) {
            checkThread()
            do {
                return try handle.size()
            } catch {
                throw SystemError(.configure, error)
            }
        }

        /// Puts the mode back, and closes the terminal's descriptor.
        ///
        /// > Threading: Any thread; on another one it happens soon after.
        public func close() { handle.closeFromAnyThread() }

        private func checkThread() {
            require(
                handle.loop.isOnOwnThread,
                "A terminal belongs to the thread of the run loop in which it was opened."
            )
        }

        deinit { handle.closeFromAnyThread() }
    }
}

extension UVRunLoop.Terminal: CustomReflectable {
    /// A mirror without children: the object's parts are not for other code.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
