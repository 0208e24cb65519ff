import ArgumentParser
import Glibc

extension ParsableCommand {
    /// Runs the command that the command line gives.
    ///
    /// A wrong command line ends the program with status 2, as it does all scripts.
    package static func runAsScript() {
        do {
            var command = try parseAsRoot()
            try command.run()
            if Output.isIncomplete { fail("Not all could be written to standard output.") }
        } catch {
            let code = exitCode(for: error)
            guard code == .validationFailure else { exit(withError: error) }
            Output.complain(fullMessage(for: error))
            Glibc.exit(2)
        }
    }
}
