import UVRunLoop
import UVRunLoopSystem

typealias ChildProcess = UVRunLoop.ChildProcess

/// The reports of a child.
final class ChildStory {
    private(set) var status: UVRunLoop.ChildSource.ExitStatus?
    private(set) var ends: [String] = []
    private var bytes: [UInt8] = []
    private var errorBytes: [UInt8] = []

    var output: String { String(decoding: bytes, as: UTF8.self) }
    var errors: String { String(decoding: errorBytes, as: UTF8.self) }
    var received: Int { bytes.count }

    var handler: (ChildProcess, ChildProcess.Event) -> Void {
        { [self] _, event in
            switch event {
            case .output(let chunk): bytes += chunk
            case .errorOutput(let chunk): errorBytes += chunk
            case .outputEnded: ends.append("output")
            case .errorOutputEnded: ends.append("errors")
            case .exited(let end):
                precondition(status == nil)
                status = end
            case .inputDrained, .inputFailed, .failed: break
            }
        }
    }
}

func shell(_ script: String) -> ChildProcess.Configuration {
    ChildProcess.Configuration("/bin/sh", ["-c", script])
}

func code(of configuration: ChildProcess.Configuration) -> UVRunLoop.SystemError.Code? {
    code { () throws(UVRunLoop.SystemError) in _ = try ChildProcess(configuration) { _, _ in } }
}
