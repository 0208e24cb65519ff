import Glibc

/// What the kernel tells of an epoll set.
enum EpollSet {
    /// Whether the set holds a number, whatever file the number stood for when it was added.
    ///
    /// The kernel tells in a file of its own, a line for each member. Where it cannot be read, the
    /// answer is no.
    static func holds(_ descriptor: CInt, epoll: CInt) -> Bool {
        guard let file = unsafe fopen("/proc/self/fdinfo/\(epoll)", "re") else { return false }
        defer { unsafe fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { unsafe free(line) }
        while unsafe getline(&line, &capacity, file) > 0, let text = unsafe line {
            let words = unsafe String(cString: text).split(separator: " ", maxSplits: 2)
            if words.first == "tfd:", words.dropFirst().first.flatMap({ CInt($0) }) == descriptor {
                return true
            }
        }
        return false
    }
}
