import BenchSupport
import Glibc

/// Measures ports beside what they have to bear comparison with.
@main
struct PortBenchmark {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.dropFirst().first) {
        case ("--serve-socket", let path?): BareSocket.serve(at: path)
        case ("--serve-port", let name?): servePort(name)
        case (nil, nil): measure(rounds: 5)
        case ("--quick", nil): measure(rounds: 1)
        default:
            Output.complain("usage: PortBenchmark [--quick]")
            exit(2)
        }
    }

    private static func servePort(_ name: String) {
        PosixThread { BetweenProcesses.servePort(named: name) }.join()
    }

    private static func measure(rounds: Int) {
        print("In-process port beside perform, \(InProcess.count) each:")
        InProcess.run(rounds: rounds, producers: 1)
        InProcess.run(rounds: rounds, producers: 4)
        print("\nRound trips of 64 bytes between two processes, \(rounds) rounds:")
        PosixThread { BetweenProcesses.run(rounds: rounds) }.join()
    }
}
