import Glibc

extension Files {
    /// The names in a directory, so many of them at most and in no order; none where it cannot be
    /// read.
    static func names(in directory: String, atMost limit: Int) -> [String] {
        // The name's place, as an entry need not be as long as its type.
        guard let place = MemoryLayout<dirent>.offset(of: \.d_name),
            let stream = unsafe opendir(directory)
        else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while names.count < limit, let entry = unsafe readdir(stream) {
            let name = unsafe UnsafeRawPointer(entry) + place
            names.append(unsafe String(cString: name.assumingMemoryBound(to: CChar.self)))
        }
        return names
    }
}
