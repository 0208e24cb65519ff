import Glibc

/// Runs the listings that the command line names, and prints their logs.
@main
enum Program {
    static func main() { main(CommandLine.arguments.dropFirst()) }

    static func main(_ arguments: some Sequence<String>) {
        switch Invocation(arguments) {
        case .help: print(Invocation.usage)
        case .refuse(let reason): fail("\(reason)\n\n\(Invocation.usage)", status: 2)
        case .run(let listings): listings.forEach(run)
        }
    }

    private static func run(_ listing: Listing) {
        print("Listing \(listing.number): \(listing.title)")
        do {
            try listing.run(Log(isPrinted: true))
        } catch {
            fail("listing \(listing.number) failed: \(error)", status: 1)
        }
    }

    private static func fail(_ sentence: String, status: CInt) -> Never {
        let bytes = Array("Guide: \(sentence)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
        exit(status)
    }
}
