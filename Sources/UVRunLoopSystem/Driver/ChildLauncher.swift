import CUV
import CUVSupport
internal import UVLibc
import UVRunLoop

/// Starts a program with `uv_spawn`.
///
/// libuv's handle is closed at once: libuv learns of a child's exit by a handler for `SIGCHLD`,
/// which would replace that of other code. The exit is found by a pidfd instead.
@safe
final class ChildLauncher: LoopHandle, @unchecked Sendable {
    private let raw: UnsafeMutablePointer<uv_process_t>

    private init(in site: LoopSite) {
        unsafe raw = .allocate(capacity: 1)
        super.init(site)
        unsafe raw.initialize(to: uv_process_t())
        unsafe raw.pointee.data = unsafe data
    }

    override func end() { unsafe close(raw) }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - configuration: The program; its texts are without zero bytes.
    ///   - descriptors: The child's standard descriptors; `nil` for the null device.
    ///   - site: The loop.
    /// - Returns: The process ID and a handle for the child.
    /// - Throws: The error of the system; no process exists then.
    static func start(
        _ configuration: UVRunLoop.ChildProcess.Configuration,
        _ descriptors: [CInt?],
        in site: LoopSite
    ) throws(UVError) -> (process: CInt, child: ChildHandle) {
        cuv_child_starts()
        defer { cuv_child_started() }
        let process = try SharedCall.make { () throws(UVError) -> CInt in
            let launcher = ChildLauncher(in: site)
            site.host.insert(launcher)
            defer { launcher.close() }
            let status = configuration.withCValues { values in
                site.host.open { launcher.spawn(values, descriptors) }
            }
            try accepted(status)
            return unsafe launcher.raw.pointee.pid
        }
        do {
            return (process, try ChildHandle(process))
        } catch {
            kill(process, SIGKILL)
            var status: CInt = 0
            while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
            throw error
        }
    }

    private func spawn(
        _ values: UVRunLoop.ChildProcess.Configuration.CValues,
        _ descriptors: [CInt?]
    ) -> CInt {
        var stdio = unsafe descriptors.map { descriptor in
            var container = unsafe uv_stdio_container_t()
            unsafe container.flags = descriptor == nil ? UV_IGNORE : UV_INHERIT_FD
            unsafe container.data.fd = descriptor ?? -1
            return unsafe container
        }
        var options = unsafe uv_process_options_t()
        unsafe options.file = unsafe values.file
        unsafe options.args = unsafe values.arguments
        unsafe options.env = unsafe values.environment
        unsafe options.cwd = unsafe values.directory
        unsafe options.flags = values.startsSession ? UV_PROCESS_DETACHED.rawValue : 0
        unsafe options.stdio_count = CInt(descriptors.count)
        return unsafe stdio.withUnsafeMutableBufferPointer { stdio in
            unsafe options.stdio = stdio.baseAddress
            return unsafe uv_spawn(host.uvLoop, raw, &options)
        }
    }
}

extension UVRunLoop.ChildProcess.Configuration {
    /// The texts as C strings, which are valid during a call.
    @safe
    struct CValues {
        var file: UnsafePointer<CChar>?
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        var environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        var directory: UnsafePointer<CChar>?
        var startsSession: Bool
    }

    fileprivate func withCValues<Result>(_ body: (CValues) -> Result) -> Result {
        let texts = (environment ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return unsafe Self.withCStrings([program] + arguments) { arguments in
            unsafe Self.withCStrings(texts) { variables in
                unsafe Self.withCStrings([directory ?? ""]) { directory in
                    body(
                        unsafe CValues(
                            file: UnsafePointer(arguments[0]),
                            arguments: arguments,
                            environment: environment == nil ? nil : variables,
                            directory: self.directory == nil ? nil : UnsafePointer(directory[0]),
                            startsSession: startsSession
                        )
                    )
                }
            }
        }
    }

    /// Lends texts as an array of C strings that ends with a null pointer.
    private static func withCStrings<Result>(
        _ texts: [String],
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let strings = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
            .allocate(capacity: texts.count + 1)
        for (index, text) in texts.enumerated() {
            unsafe (strings + index).initialize(to: strdup(text))
        }
        unsafe (strings + texts.count).initialize(to: nil)
        defer {
            for index in texts.indices { unsafe free(strings[index]) }
            unsafe strings.deallocate()
        }
        return unsafe body(strings)
    }
}
