import Glibc
import UVRunLoop
import UVRunLoopSystem

/// A command that is run again when files have changed.
///
/// All of it happens on the thread of one loop, so it needs no lock.
final class Rerun {
    /// How long no file may change before the command is run: programs save in several steps.
    private static let quietTime = Duration.milliseconds(100)
    /// How long the command may take to end after it was asked to.
    private static let patience = Duration.seconds(5)

    private let loop: UVRunLoop
    private let command: [String]
    private var watch: UVRunLoop.FileWatch?
    private var quiet: UVRunLoop.Timer?
    private var child: UVRunLoop.ChildProcess?
    private var killing: UVRunLoop.Timer?
    /// Whether the command is run again when the present one has ended.
    private var isDue = false
    private(set) var exitStatus: CInt = 0

    init(_ command: [String], on loop: UVRunLoop) {
        self.command = command
        self.loop = loop
    }

    func watch(_ folder: String) throws(UVRunLoop.SystemError) {
        let watch = try UVRunLoop.FileWatch(folder) { [unowned self] _, change in
            // Editors' own files.
            if change.name?.hasPrefix(".") != true { filesDidChange() }
        }
        loop.add(watch, forMode: .default)
        self.watch = watch
    }

    private func filesDidChange() {
        quiet?.invalidate()
        let timer = UVRunLoop.Timer(after: Self.quietTime) { [unowned self] _ in restart() }
        loop.add(timer, forMode: .default)
        quiet = timer
    }

    private func restart() {
        guard child != nil else { return start() }
        isDue = true
        endChild()
    }

    func start() {
        do {
            let configuration = UVRunLoop.ChildProcess.Configuration(
                command[0],
                Array(command.dropFirst()),
                output: .inherited
            )
            let child = try UVRunLoop.ChildProcess(configuration) { [unowned self] _, event in
                switch event {
                case .exited(let status): childDidExit("\(status)")
                // It comes instead of the exit.
                case .failed(let error) where error.attempt == .watch: childDidExit("\(error)")
                default: break
                }
            }
            loop.add(child, forMode: .default)
            self.child = child
        } catch {
            say("Rerun: \(command[0]): \(error)", to: STDERR_FILENO)
            exitStatus = 1
        }
    }

    private func childDidExit(_ how: String) {
        killing?.invalidate()
        child = nil
        say("Rerun: \(command[0]): \(how)", to: STDERR_FILENO)
        if isDue, watch?.isValid == true { start() }
        isDue = false
    }

    /// Asks the command to end, and kills it if it does not.
    private func endChild() {
        guard let child, killing?.isValid != true else { return }
        try? child.send(signal: SIGTERM)
        let timer = UVRunLoop.Timer(after: Self.patience) { _ in
            try? child.send(signal: SIGKILL)
        }
        loop.add(timer, forMode: .default)
        killing = timer
    }

    /// Watches no more, and ends the command; then nothing keeps the loop running.
    func end() {
        watch?.invalidate()
        quiet?.invalidate()
        endChild()
    }
}

/// Writes a line at once, also to a pipe; ends the program if nobody can read what it is for.
func say(_ line: String, to descriptor: CInt = STDOUT_FILENO) {
    let bytes = Array((line + "\n").utf8)
    guard write(descriptor, bytes, bytes.count) >= 0 || descriptor == STDERR_FILENO else {
        perror("Rerun")
        exit(1)
    }
}
