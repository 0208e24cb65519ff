import Glibc

/// A server that speaks the Redis protocol, on one run loop.
@main
enum KeyValue {
    static func main() {
        // The reader of standard output may close it; that must not end the server.
        signal(SIGPIPE, SIG_IGN)
        let options = Options(arguments: CommandLine.arguments.dropFirst())
        if let command = options.command {
            exit(Client.send(command, options))
        }
        let server = Server(options)
        server.run()
        server.saver.stop()
    }
}
