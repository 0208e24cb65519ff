/// The parsed command line.
enum Invocation {
    case run([Listing])
    case help
    /// It is invalid, for this reason.
    case refuse(String)

    /// Parses the arguments after the program's name.
    init(_ arguments: some Sequence<String>) {
        var listings: [Listing] = []
        for argument in arguments {
            if argument == "-h" || argument == "--help" {
                self = .help
                return
            }
            guard let listing = Listing.numbered(argument) else {
                self = .refuse("there is no listing \(argument)")
                return
            }
            listings.append(listing)
        }
        self = .run(listings.isEmpty ? Listing.all : listings)
    }

    static var usage: String {
        let rows = Listing.all.map { listing in
            "  " + listing.number + String(repeating: " ", count: 6 - listing.number.count)
                + listing.title
        }
        return """
            Usage: Guide [LISTING ...]

            Runs listings of the chapter on run loops in Apple's threading guide, as written
            for UVRunLoop; without a number, all of them.

            \(rows.joined(separator: "\n"))
            """
    }
}
