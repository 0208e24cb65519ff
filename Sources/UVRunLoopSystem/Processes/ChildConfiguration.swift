import UVRunLoop

extension UVRunLoop.ChildProcess {
    /// A program to start, and what it gets.
    public struct Configuration: Hashable, Sendable {
        /// The file behind one of the child's standard descriptors.
        public struct Stream: Hashable, Sendable {
            enum Kind: Hashable {
                case null, pipe, inherited
                case descriptor(CInt)
            }

            let kind: Kind

            /// The null device.
            public static let null = Stream(kind: .null)
            /// A pipe, whose other end the source reads or writes.
            public static let pipe = Stream(kind: .pipe)
            /// The descriptor of this process with the same number.
            public static let inherited = Stream(kind: .inherited)

            /// A descriptor of this process, of which the child gets a copy.
            ///
            /// - Parameter number: The descriptor, which the caller keeps owning.
            /// - Returns: The stream.
            public static func descriptor(_ number: CInt) -> Stream {
                Stream(kind: .descriptor(number))
            }
        }

        /// The program: a path, or a name that is searched in the directories of `PATH`: that of
        /// ``environment``, where the system's directories take the place of a missing one.
        public var program: String
        /// The arguments, without the name of the program.
        public var arguments: [String]
        /// The environment; `nil` for that of this process.
        public var environment: [String: String]?
        /// The working directory; `nil` for that of this process.
        public var directory: String?
        /// The standard input.
        public var input: Stream
        /// The standard output.
        public var output: Stream
        /// The standard error output.
        public var errorOutput: Stream
        /// Whether the child leads a session of its own, so that it gets no signals of the
        /// terminal.
        public var startsSession: Bool

        /// Describes a program to start.
        ///
        /// - Parameters:
        ///   - program: A path, or a name that is searched in the directories of `PATH`.
        ///   - arguments: The arguments, without the name of the program.
        ///   - environment: The environment; `nil` for that of this process.
        ///   - directory: The working directory; `nil` for that of this process.
        ///   - input: The standard input.
        ///   - output: The standard output.
        ///   - errorOutput: The standard error output.
        ///   - startsSession: Whether the child leads a session of its own.
        public init(
            _ program: String,
            _ arguments: [String] = [],
            environment: [String: String]? = nil,
            directory: String? = nil,
            input: Stream = .null,
            output: Stream = .pipe,
            errorOutput: Stream = .inherited,
            startsSession: Bool = false
        ) {
            self.program = program
            self.arguments = arguments
            self.environment = environment
            self.directory = directory
            self.input = input
            self.output = output
            self.errorOutput = errorOutput
            self.startsSession = startsSession
        }

        /// Whether the texts can be passed to C functions, and the variables have names.
        var isValid: Bool {
            let variables = environment ?? [:]
            let texts = [program, directory ?? ""] + arguments + variables.keys + variables.values
            return texts.allSatisfy { !$0.utf8.contains(0) }
                && variables.keys.allSatisfy { !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: "=")) }
        }
    }
}
