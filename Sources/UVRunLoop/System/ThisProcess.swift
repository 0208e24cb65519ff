internal import CUVSupport

/// Facts about the process and the calling thread, from the system.
enum ThisProcess {
    /// An environment variable.
    static func environment(_ name: String) -> String? {
        unsafe cuv_environment(name).map { unsafe String(cString: $0) }
    }

    static var number: Int32 { getpid() }
    static var currentThread: Int32 { cuv_thread_id() }

    /// The calling thread's name as the system shows it.
    static var currentThreadName: String {
        let size = Int(cuv_thread_name_size)
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { name in
            guard let start = name.baseAddress else { return "" }
            unsafe cuv_thread_name(start)
            return unsafe String(cString: start)
        }
    }

    /// Calls a function when the process exits.
    static func atExit(_ function: @convention(c) () -> Void) { _ = cuv_at_exit(function) }

    /// Writes a line to the standard error.
    static func writeToStandardError(_ line: String) {
        var text = line + "\n"
        text.withUTF8 { bytes in
            guard let start = bytes.baseAddress else { return }
            _ = unsafe cuv_write_all(2, start, bytes.count)
        }
    }
}
