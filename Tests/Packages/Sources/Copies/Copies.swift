// A program whose dynamic libraries contain copies of the run loops, besides its own.

import Glibc
import UVRunLoop

@main
struct Copies {
    private typealias Function = @convention(c) () -> CInt

    /// The arguments are the libraries.
    static func main() {
        serveATimer()
        let functions = CommandLine.arguments.dropFirst().map(function(of:))
        for function in functions + functions { print("of a library: \(function())") }
        serveATimer()
    }

    private static func serveATimer() {
        let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in print("of the program") }
        UVRunLoop.main.add(timer, forMode: .default)
        UVRunLoop.current.run(mode: .default, for: .seconds(60))
    }

    /// Opens a library as the dynamic linker does: its symbols are found by all that follow.
    private static func function(of library: String) -> Function {
        guard let handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL),
            let symbol = dlsym(handle, "serveATimer")
        else {
            fatalError(dlerror().map { String(cString: $0) } ?? library)
        }
        return unsafeBitCast(symbol, to: Function.self)
    }
}
