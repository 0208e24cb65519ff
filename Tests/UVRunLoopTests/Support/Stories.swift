import Glibc

/// The programs that tell stories.
enum Probe: String {
    /// It imports Dispatch.
    case dispatch = "DispatchProbe"
    /// It does not.
    case tasks = "TaskProbe"

    /// Next to the program that runs the tests.
    fileprivate var path: String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &bytes, bytes.count)
        let program = String(decoding: bytes.prefix(max(length, 0)).map(UInt8.init), as: UTF8.self)
        return program.prefix(through: program.lastIndex(of: "/") ?? program.startIndex) + rawValue
    }
}

private struct StoryError: Error {
    var status: CInt
    var lines: [String]
}

/// Has a probe tell a story; answers its lines.
func story(_ name: String, by probe: Probe) throws -> [String] {
    guard let stream = popen("exec '\(probe.path)' \(name)", "re") else {
        throw StoryError(status: errno, lines: [])
    }
    var lines: [String] = []
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    while getline(&line, &capacity, stream) > 0, let line {
        lines.append(String(String(cString: line).dropLast()))
    }
    free(line)
    let status = pclose(stream)
    guard status == 0 else { throw StoryError(status: status, lines: lines) }
    return lines
}
