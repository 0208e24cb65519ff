/// The programs that tell stories.
package enum Probe: String {
    /// It imports Dispatch.
    case dispatch = "DispatchProbe"
    /// It does not.
    case tasks = "TaskProbe"
    /// Its main function is asynchronous.
    case asyncMain = "AsyncMainProbe"
}

private struct StoryError: Error {
    var status: CInt
    var lines: [String]
}

/// Has a probe tell a story; returns its lines.
package func story(_ name: String, by probe: Probe) throws -> [String] {
    let program = try ChildProgram(probe.rawValue, [name])
    let lines = program.rest().split(separator: "\n").map(String.init)
    let status = program.wait()
    guard status == 0 else { throw StoryError(status: status, lines: lines) }
    return lines
}
