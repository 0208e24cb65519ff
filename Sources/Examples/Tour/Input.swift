import Glibc

/// A text that is open for reading.
struct Input {
    let name: String
    let descriptor: CInt

    /// Pieces and pauses that slow a short sample down; any other text runs at full speed.
    let pace: Pace?

    struct Pace {
        let bytesPerPiece: Int
        let pause: Duration
    }

    /// The interval at which the worker's timer reports.
    var reportInterval: Duration { pace == nil ? .milliseconds(100) : .milliseconds(250) }

    /// Opens the text, or ends the program with a message.
    static func open(_ text: Options.Text) -> Input {
        switch text {
        case .standardInput:
            return Input(name: "standard input", checking: STDIN_FILENO, isSample: false)
        case .file(let path):
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { fail("cannot read \(path): \(reason(errno))") }
            return Input(name: path, checking: descriptor, isSample: false)
        case .sample:
            for path in samples {
                let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
                guard descriptor >= 0 else { continue }
                return Input(name: path, checking: descriptor, isSample: true)
            }
            fail("none of the sample texts is on this system; name a file instead: Tour FILE")
        }
    }

    /// Texts that every Debian system has, in order of preference.
    private static let samples = [
        "/usr/share/common-licenses/GPL-3",
        "/usr/share/common-licenses/GPL-2",
        "/usr/share/common-licenses/Apache-2.0",
        "/etc/services",
        "/etc/os-release",
    ]

    private init(name: String, checking descriptor: CInt, isSample: Bool) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, fcntl(descriptor, F_GETFL) & O_ACCMODE != O_WRONLY
        else { fail("cannot read \(name): it is not open for reading") }
        guard status.st_mode & S_IFMT != S_IFDIR
        else { fail("cannot read \(name): it is a directory") }

        self.name = name
        self.descriptor = descriptor
        // Twelve pieces make a sample of any length last a little over a second.
        let piece = max(1, (Int(status.st_size) + 11) / 12)
        pace = isSample ? Pace(bytesPerPiece: piece, pause: .milliseconds(110)) : nil
    }
}
