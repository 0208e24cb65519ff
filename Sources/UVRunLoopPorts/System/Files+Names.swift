internal import UVLibc

extension Files {
    /// Lists names in a directory.
    ///
    /// - Parameters:
    ///   - directory: The directory's path.
    ///   - limit: The most names to return.
    ///   - isIncluded: Whether to return a name.
    /// - Returns: The names in no order; `nil` if the directory cannot be read.
    static func names(
        in directory: String,
        atMost limit: Int = .max,
        where isIncluded: (String) -> Bool = { _ in true }
    ) -> [String]? {
        // The offset of the name is needed, because an entry may be shorter than its type.
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name),
            let stream = unsafe opendir(directory)
        else { return nil }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while names.count < limit, let entry = unsafe readdir(stream) {
            let bytes = unsafe UnsafeRawPointer(entry) + offset
            let name = unsafe String(cString: bytes.assumingMemoryBound(to: CChar.self))
            if isIncluded(name) { names.append(name) }
        }
        return names
    }
}
