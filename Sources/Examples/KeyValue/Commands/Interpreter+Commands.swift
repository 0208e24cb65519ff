// COMMAND: describes the commands to clients.

extension Interpreter {
    mutating func aboutCommands(_ request: Request) throws(CommandError) {
        if request.count == 1 {
            reply.array(Command.all.count)
            for command in Command.all { describe(command) }
        } else if request.isWord(1, "COUNT") {
            try check(request, words: 2, "command|count")
            reply.integer(Command.all.count)
        } else if request.isWord(1, "LIST") {
            try check(request, words: 2, "command|list")
            reply.array(Command.all.count)
            for command in Command.all { reply.bulk(command.name) }
        } else if request.isWord(1, "INFO") {
            let wanted = named(in: request)
            reply.array(wanted.count)
            for command in wanted {
                if let command {
                    describe(command)
                } else {
                    reply.null(version: client.version)
                }
            }
        } else if request.isWord(1, "DOCS") {
            let wanted = named(in: request).compactMap(\.self)
            reply.map(wanted.count, version: client.version)
            for command in wanted { document(command) }
        } else {
            throw .subcommand(of: "COMMAND", request.text(1))
        }
    }

    /// The commands that are named, or all of them if none is.
    private func named(in request: Request) -> [Command?] {
        if request.count == 2 { return Command.all }
        return (2..<request.count).map { word in
            let name = request.text(word).lowercased()
            return Command.all.first { $0.name == name }
        }
    }

    /// Name, arity, flags, key positions, and four fields that no command here uses.
    private mutating func describe(_ command: Command) {
        reply.array(10)
        reply.bulk(command.name)
        reply.integer(command.arity)
        let flags = command.traits.names
        reply.array(flags.count)
        for flag in flags { reply.status(flag) }
        reply.integer(command.keys.places.first)
        reply.integer(command.keys.places.last)
        reply.integer(command.keys.places.step)
        for _ in 0..<4 { reply.array(0) }
    }

    private mutating func document(_ command: Command) {
        reply.bulk(command.name)
        reply.map(3, version: client.version)
        reply.bulk("summary")
        reply.bulk(command.summary)
        reply.bulk("since")
        reply.bulk("1.0.0")
        reply.bulk("group")
        reply.bulk(command.keys == .none ? "server" : "string")
    }
}

extension Command.Traits {
    /// Redis's names of the flags.
    var names: [String] {
        let all: [(Self, String)] = [
            (.reads, "readonly"), (.writes, "write"), (.fast, "fast"), (.admin, "admin"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}
