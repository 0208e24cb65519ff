import Glibc

/// The parsed command line.
struct Options {
    /// Where the text comes from.
    enum Text {
        case sample
        case standardInput
        case file(String)
    }

    let text: Text

    /// Parses the arguments after the program's name; ends the program if they are invalid.
    init(arguments: ArraySlice<String>) {
        var texts: [Text] = []
        var mayBeOption = true
        for argument in arguments {
            switch argument {
            case "--" where mayBeOption:
                mayBeOption = false
            case "-h" where mayBeOption, "--help" where mayBeOption:
                Screen.line(Options.help)
                exit(0)
            case _ where mayBeOption && argument.hasPrefix("-") && argument != "-":
                fail("there is no option \(argument); --help shows what there is", status: 2)
            default:
                let isDash = argument == "-" && mayBeOption
                texts.append(isDash ? .standardInput : .file(argument))
            }
        }
        if texts.count > 1 {
            fail("one text at a time, please; --help shows how", status: 2)
        }
        text = texts.first ?? .sample
    }

    private static let help = """
        Usage: Tour [FILE]

        Shows a run loop at work: a worker thread counts the lines, words and bytes of
        FILE, which reaches it through a pipe, while a timer and the main thread ask how
        far it has come. The loop's first passes are shown step by step.

          FILE     the text to count; without it, slowly, a text that comes with Debian
          -        count standard input
          --help   show this help

        Colours are used on a terminal only, and never when NO_COLOR is set.
        """
}
