import TestSupport

/// Starts the program under test.
func keyValue(_ arguments: [String], in folder: TemporaryFolder? = nil) throws -> ChildProgram {
    try ChildProgram("KeyValue", arguments, in: folder)
}

/// A server started for one test, at its own port.
struct TestServer {
    let program: ChildProgram
    let port: UInt16

    init(_ arguments: [String] = [], in folder: TemporaryFolder? = nil) throws {
        program = try keyValue(["--port", "0"] + arguments, in: folder)
        while let line = program.nextLine() {
            guard line.contains("listens at"), let text = line.split(separator: ":").last,
                let port = UInt16(text)
            else { continue }
            self.port = port
            return
        }
        throw Trouble("the server does not say where it listens")
    }

    func connect() throws -> TestClient { try TestClient(program, port: port) }
}
