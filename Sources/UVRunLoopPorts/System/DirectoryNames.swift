import Glibc

extension Files {
    /// Reads names in a directory.
    ///
    /// - Parameters:
    ///   - directory: The directory's path.
    ///   - limit: How many names to return at most.
    ///   - isMeant: Whether to return a name.
    /// - Returns: The names in no order; `nil` where the directory cannot be read.
    static func names(
        in directory: String,
        atMost limit: Int = .max,
        where isMeant: (String) -> Bool = { _ in true }
    ) -> [String]? {
        // The name's place, as an entry need not be as long as its type.
        guard let place = MemoryLayout<dirent>.offset(of: \.d_name),
            let stream = unsafe opendir(directory)
        else { return nil }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while names.count < limit, let entry = unsafe readdir(stream) {
            let bytes = unsafe UnsafeRawPointer(entry) + place
            let name = unsafe String(cString: bytes.assumingMemoryBound(to: CChar.self))
            if isMeant(name) { names.append(name) }
        }
        return names
    }
}
