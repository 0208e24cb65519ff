import Glibc

/// A folder that goes away with the test, and all it holds with it.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        var template = Array("/tmp/uvrunloop-test-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template).map({ String(cString: $0) }) else {
            preconditionFailure("No folder could be made.")
        }
        self.path = path
    }

    /// The names of what it holds.
    package var entries: [String] { Self.entries(of: path) }

    package func write(_ text: String, to name: String) {
        let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        _ = Glibc.write(file, Array(text.utf8), text.utf8.count)
        close(file)
    }

    /// Removes it with what it holds.
    package func remove() { Self.remove(path) }

    deinit { remove() }

    package static func entries(of path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let name = nextName(in: directory) { names.append(name) }
        return names.sorted()
    }

    package static func remove(_ path: String) {
        for name in entries(of: path) { remove(path + "/" + name) }
        if unlink(path) != 0 { rmdir(path) }
    }
}

/// The next name in an open directory, but not its own nor its parent's.
func nextName(in directory: OpaquePointer) -> String? {
    // An entry may be shorter than its type, so the name is not copied out of it as an array.
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return nil }
    while let entry = readdir(directory) {
        let bytes = UnsafeRawPointer(entry) + offset
        let name = String(cString: bytes.assumingMemoryBound(to: CChar.self))
        if name != ".", name != ".." { return name }
    }
    return nil
}
