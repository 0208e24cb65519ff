import TestSupport
import Testing

/// What is wrong goes to standard error, not among what a program was asked for.
@Suite(.timeLimit(.minutes(15))) struct StandardErrorTests {
    @Test(arguments: ["Chat", "Follow", "KeyValue", "Lookup", "Rerun", "Schedule", "Tally"])
    func aWrongArgumentIsToldThere(name: String) throws {
        let program = try ChildProgram(name, ["--nonsense"], outputFile: "/dev/null")
        #expect(program.rest().contains("Usage"))
        #expect(program.wait() == 2)
    }

    @Test(arguments: [
        ("Follow", ["/"]),
        ("Lookup", ["ask", "org.example.nobody-serves-this", "word"]),
        ("Rerun", ["/nonexistent", "true"]),
        ("Schedule", ["/nonexistent"]),
        ("Tally", ["serve", "/nonexistent/socket"]),
    ])
    func aFailureIsToldThere(name: String, arguments: [String]) throws {
        let program = try ChildProgram(name, arguments, outputFile: "/dev/null")
        #expect(program.rest().hasPrefix("\(name): "))
        #expect(program.wait() == 1)
    }
}
